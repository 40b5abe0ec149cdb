//go:build unix

package sqlledger

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/ledger"
)

// TestBoundedPool checks that as many ledgers as a database has connections can be used at once.
// With one connection for each lock, every ledger waited for another connection, without end.
func TestBoundedPool(t *testing.T) {
	for _, most := range []int{1, 3} {
		db, err := sql.Open("pgx", sharedServer(t).database(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(most)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		done := make(chan error, 2*most)
		for i := range 2 * most { // two handles of each ledger
			l, err := ledger.NewStore(PostgreSQLDB(db, "bounded")).OpenOrCreate(ctx,
				fmt.Sprint("people-", i/2), terms)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				var err error
				for k := 0; k < 5 && err == nil; k++ {
					_, err = l.Reserve(fmt.Sprint(i, k), event, 1)
				}
				done <- err
			}()
		}
		for range 2 * most {
			if err := <-done; err != nil {
				t.Errorf("%d connections: %v", most, err)
			}
		}
	}
}
