package dpgm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// A countdown is a context that is cancelled after some calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestStoppedResumesKeepTheTraining stops a resumed run at each check of its context up to its
// first step. Whatever it has restored by then, its checkpoint must still hold the steps drawn.
func TestStoppedResumesKeepTheTraining(t *testing.T) {
	schema := records.Sets(10, 4)
	plan, err := dpgm.Config{Schema: schema, Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5},
		Cluster: kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 10},
		Model:   models.RBM{Hidden: 3, Chains: 2},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 12, NoiseMultiplier: 20,
			Optimizer: sgd.SGD(0.1)}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromItems(schema, [][]uint32{{1, 2}, {3}, {4, 5, 6}, {1, 9}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	fit := func(ctx context.Context, opts ...synth.Option) error {
		_, err := plan.FitOn(ctx, ledger.New(plan.Budget()), data,
			append(opts, synth.Checkpoint(path))...)
		return err
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := fit(ctx, synth.OnProgress(func(p synth.Progress) {
		if p.Stage == dpgm.PurposeTrain && p.Step == 5 {
			stop()
		}
	}))
	kept, err := os.ReadFile(path)
	if stopped == nil || err != nil {
		t.Fatalf("the first run ended with %v, its checkpoint with %v", stopped, err)
	}
	for calls := int64(1); ; calls++ {
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		began := false
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(calls)
		err := fit(ctx, synth.OnProgress(func(p synth.Progress) { began = true }))
		if err == nil || began {
			if calls < 4 {
				t.Errorf("a resumed run checks its context %d times before its first step, want 3", calls-1)
			}
			return
		}
		if steps := keptSteps(t, path); steps != 5 {
			t.Errorf("stopped at check %d (%v): the checkpoint holds %d steps, want 5", calls, err, steps)
		}
	}
}

// keptSteps returns the number of training steps whose result the checkpoint holds.
func keptSteps(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := synth.DecodeFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var header struct {
		State struct {
			Steps    int
			Training bool
		}
	}
	if err := json.Unmarshal(f.Header, &header); err != nil {
		t.Fatal(err)
	}
	if !header.State.Training {
		return 0
	}
	return header.State.Steps
}
