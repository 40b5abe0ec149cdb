package ledger

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestALostMarkIsDamage: a ledger whose mark is removed while it is open spends nothing more.
func TestALostMarkIsDamage(t *testing.T) {
	folder := t.TempDir()
	l, err := Dir(folder).Create(t.Context(), "people", Terms{Budget: accountant.Budget{Epsilon: 5,
		Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Spend("x", accountant.Gaussian{NoiseMultiplier: 20}); err != nil {
		t.Fatal(err)
	}
	removed := 0
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(path, markFile) {
			removed++
			return os.Remove(path)
		}
		return err
	})
	if err != nil || removed != 1 {
		t.Skip("a file that is open cannot be removed here:", err)
	}
	for range 2 {
		if err := l.Spend("x", accountant.Gaussian{NoiseMultiplier: 20}); !errors.Is(err, ErrDamaged) {
			t.Errorf("without its mark: %v, want %v", err, ErrDamaged)
		}
	}
	if e := l.Entries(); len(e) != 1 {
		t.Errorf("got %+v, want one entry", e)
	}
}

// TestGuaranteesOfNothing: what a file says about samplers and noise is not believed if it has no
// entries.
func TestGuaranteesOfNothing(t *testing.T) {
	text, err := json.Marshal(New(accountant.Budget{Epsilon: 1, Delta: 1e-6}).Guarantee())
	if err != nil {
		t.Fatal(err)
	}
	var g map[string]any
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	g["noise_class"], g["samplers"] = []string{"exact"}, []string{"poisson"}
	g["not_covered"], g["accountant"] = []string{"nothing"}, "another"
	if text, err = json.Marshal(g); err != nil {
		t.Fatal(err)
	}
	var back Guarantee
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.NoiseClass) != 0 || len(back.Samplers) != 0 || back.Accountant == "another" ||
		len(back.NotCovered) == 1 && back.NotCovered[0] == "nothing" {
		t.Errorf("a guarantee of nothing reads %+v", back)
	}
}
