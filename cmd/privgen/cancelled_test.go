package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestLedgersOutliveACancelledCommand checks that a command that is cancelled still records uses.
func TestLedgersOutliveACancelledCommand(t *testing.T) {
	for _, store := range []string{t.TempDir(), "sqlite:" + filepath.Join(t.TempDir(), "l.db")} {
		ctx, cancel := context.WithCancel(t.Context())
		w := where{store: store, ledger: "people", make: true}
		l, err := w.use(&app{stdout: io.Discard, stderr: io.Discard}, ctx,
			ledger.Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		r, err := l.Reserve("use", accountant.Gaussian{NoiseMultiplier: 10}, 2)
		if err != nil {
			t.Fatalf("%s: %v", store, err)
		}
		if err := r.Spend(); err != nil {
			t.Errorf("%s: %v", store, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: %v", store, err)
		}
	}
}
