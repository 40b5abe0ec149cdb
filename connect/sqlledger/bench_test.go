//go:build unix

package sqlledger

import (
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
)

// BenchmarkReserve measures one durable reservation by the only process that uses a file.
func BenchmarkReserve(b *testing.B) {
	s := ledger.NewStore(SQLite(filepath.Join(b.TempDir(), "ledgers.db")))
	l, err := s.Create(b.Context(), "people", terms)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if _, err := l.Reserve("count", quiet, 1); err != nil {
			b.Fatal(err)
		}
	}
}
