package synthtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/synth"
)

// TestDamagedCheckpointsSayWhatToDo cuts a checkpoint off, and changes a byte of it. In both cases
// the error must name the file and the page that lists the next steps.
func TestDamagedCheckpointsSayWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	fit := func() error {
		_, err := toyPlan(t).FitOn(t.Context(), ledger.New(toyBudget), toyData(t),
			synth.Checkpoint(path))
		return err
	}
	if err := fit(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte(nil), whole...)
	changed[len(changed)-1] ^= 1
	for name, text := range map[string][]byte{"cut off": whole[:len(whole)/2], "changed": changed,
		"of another program": []byte("something else")} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		err := fit()
		if err == nil || !strings.Contains(err.Error(), "docs/durability.md") ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want the file and docs/durability.md", name, err)
		}
	}
}
