//go:build unix

package sqlledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/sqlledger"
	"github.com/seed7ba64551/privgen/connect/sqlrows"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// publish makes synthetic rows of the table visits and stores them in the table synthetic_visits.
// Replicas of a service may run it at once: the generator is paid for on a ledger that all of them
// share, and folder holds the checkpoint from which an interrupted run goes on.
func publish(ctx context.Context, address, folder string, n int) (*privgen.Generator, error) {
	schema, err := records.NewSchema(
		records.Integer("age", 0, 110),
		records.Categorical("ward", "surgery", "medicine", "children"),
		records.Numeric("days", 0, 60).WithMissing()) // NULL
	if err != nil {
		return nil, err
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	plan, err := privgen.MST(schema, budget).Nominal(20000).Plan() // reads no row
	if err != nil {
		return nil, err
	}

	backend, err := sqlledger.PostgreSQL(address)
	if err != nil {
		return nil, err
	}
	book, err := ledger.NewStore(backend).OpenOrCreate(ctx, "visits-2026",
		ledger.Terms{Budget: accountant.Budget{Epsilon: 1.5, Delta: 1e-6}})
	if err != nil {
		return nil, err
	}
	defer book.Close()

	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := sqlrows.ReadFrame(ctx, db, schema, "SELECT age, ward, days FROM visits")
	if err != nil {
		return nil, err
	}
	gen, err := plan.FitOn(ctx, book, rows,
		privgen.Checkpoint(filepath.Join(folder, "visits.ckpt")))
	if err != nil {
		return nil, err
	}
	return gen, sqlrows.Insert(ctx, db, sqlrows.Dollar, "synthetic_visits", schema,
		gen.Stream(ctx, n))
}

// TestTutorial runs two replicas, which pay once each, and a third, which is refused: nothing is
// left for it. The tutorial states the same.
func TestTutorial(t *testing.T) {
	address := sqlledger.NewDatabase(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE visits (id serial, age int, ward text, days double precision)",
		"CREATE TABLE synthetic_visits (age int, ward text, days double precision)",
		`INSERT INTO visits (age, ward, days) SELECT i % 90, CASE WHEN i % 90 < 15 THEN 'children'
			WHEN i % 3 = 0 THEN 'surgery' ELSE 'medicine' END, NULLIF(i % 7, 0)
			FROM generate_series(1, 20000) i`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			gen, err := publish(t.Context(), address, t.TempDir(), 500)
			if err != nil {
				t.Error(err)
			} else if e := gen.Guarantee().Epsilon; e > 1.5 {
				t.Errorf("ε = %v", e)
			}
		})
	}
	both.Wait()
	if _, err := publish(t.Context(), address, t.TempDir(), 500); err == nil ||
		!strings.Contains(fmt.Sprint(err), "budget") {
		t.Errorf("a third replica: %v", err)
	}
	var count, young, wrong, missing int
	err = db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE ward = 'children'),
		count(*) FILTER (WHERE ward = 'children' AND age > 20), count(*) FILTER (WHERE days IS NULL)
		FROM synthetic_visits`).Scan(&count, &young, &wrong, &missing)
	if err != nil || count != 1000 || young < 120 || young > 220 || wrong > 60 || missing < 80 ||
		missing > 220 {
		t.Errorf("%d rows, %d children, of whom %d are old, %d without days: %v", count, young, wrong,
			missing, err)
	}
}
