//go:build unix

package synth

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// stateful is a system with a state of some size, which always fails.
type stateful struct{ size int }

func (stateful) Title() string                    { return "stateful" }
func (stateful) Notes() []string                  { return nil }
func (stateful) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (s stateful) Fit(_ context.Context, r *Run) (Model, error) {
	r.Keep(func() (*File, error) {
		return &File{Kind: "stateful", Sections: []Section{{"state", make([]byte, s.size)}}}, nil
	})
	return nil, errors.Join(r.Save(), errors.New("out of power"))
}

// TestCheckpointsHaveASize checks that a checkpoint beyond the limit is neither written nor read,
// that nothing is read after its end, and that what is no file is never opened.
func TestCheckpointsHaveASize(t *testing.T) {
	whole := maxCheckpoint
	defer func() { maxCheckpoint = whole }()
	table, err := records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	fit := func(size int) error {
		b := accountant.Budget{Epsilon: 9, Delta: 1e-5}
		p, err := NewProgram("stateful", table.Schema(), b, []Stage{{Purpose: "use",
			Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1}}, stateful{size})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.FitOn(t.Context(), ledger.New(b), table, Checkpoint(path))
		return err
	}
	maxCheckpoint = 2 << 20
	if err := fit(1 << 21); !errors.Is(err, ErrFormat) {
		t.Errorf("a large state: %v, want ErrFormat", err)
	}
	maxCheckpoint = whole
	if err := fit(1 << 21); err == nil || errors.Is(err, ErrFormat) {
		t.Errorf("a state within the limit: %v, want the failure of the run only", err)
	}
	for _, size := range []int64{maxCheckpoint, maxCheckpoint + 1} {
		if err := os.Truncate(path, size); err != nil { // sparse
			t.Fatal(err)
		}
		if err := fit(1 << 21); errors.Is(err, ErrFormat) != (size > maxCheckpoint) {
			t.Errorf("a checkpoint of %d bytes: %v", size, err)
		}
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- fit(1 << 21) }()
	select {
	case err := <-done:
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("a pipe: %v, want fs.ErrExist", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a pipe is waited for")
	}
}
