package sgd_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestTwoRunsOnOneLedger: two runs with the same event on one ledger each count their own steps.
func TestTwoRunsOnOneLedger(t *testing.T) {
	data, l := table(t, 30, 3, 1), ledger.New(budget(1e4))
	cfg := with(nil, 0.5, 4)
	for run := range 2 {
		trainer := must(sgd.New(cfg, newCentre(3), l))(t)
		taken := trainer.Spent()
		for s, err := range trainer.Steps(t.Context(), data) {
			if taken++; err != nil || s.Number != taken || trainer.Spent() != taken {
				t.Fatalf("run %d: step %d after %d, %d spent: %v", run, s.Number, taken, trainer.Spent(), err)
			}
		}
		if e := l.Entries()[0]; taken != 4 || e.Spent != 4*(run+1) || e.Reserved != 4*(run+1) {
			t.Errorf("run %d took %d steps, want 4: ledger %v", run, taken, e)
		}
	}
}

// TestResumingTakesNoMoreThanOneRun: two interrupted runs together have more uses left than one run
// may take.
func TestResumingTakesNoMoreThanOneRun(t *testing.T) {
	data, l := table(t, 30, 3, 1), ledger.New(budget(1e4))
	cfg := with(nil, 0.5, 4)
	for range 2 {
		trainer, _ := sgd.New(cfg, newCentre(3), l)
		for _, err := range trainer.Steps(t.Context(), data) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	saved := must(json.Marshal(l))(t)
	again := must(ledger.Unmarshal(saved))(t)
	event := cfg.Event(again.Relation())
	left, err := mechanism.Begin(t.Context(), again).Resume("DP-SGD step", event)
	if err != nil || left.Remaining() != 6 {
		t.Fatal(left, err)
	}
	if _, err := sgd.New(cfg, newCentre(3), again, sgd.WithAllowance(left)); len(paths(err)) != 1 ||
		paths(err)[0] != "sgd.WithAllowance" {
		t.Errorf("an allowance of six uses for a run of four steps: %v", err)
	}
	cfg.NoiseMultiplier *= 2
	cfg.Steps = 6
	if _, err := sgd.New(cfg, newCentre(3), again, sgd.WithAllowance(left)); len(paths(err)) != 1 {
		t.Errorf("an allowance of another event: %v", err)
	}
	if e := again.Entries()[0]; e.Spent != 2 {
		t.Errorf("a refused run took steps: %v", e)
	}
}

// TestMicroBatchIsBounded: a micro-batch that does not fit into memory is an error, not a panic.
func TestMicroBatchIsBounded(t *testing.T) {
	cfg := valid()
	cfg.MicroBatch = math.MaxInt
	if got := paths(cfg.Validate()); len(got) != 1 || got[0] != "sgd.Config.MicroBatch" {
		t.Error(got)
	}
}

// TestClipsAreValues: Validate refuses pointers to policies. They implement Clip, but may be nil
// and may change after validation.
func TestClipsAreValues(t *testing.T) {
	for _, clip := range []sgd.Clip{&sgd.Normalize{}, (*sgd.DPNorm)(nil)} {
		cfg := valid()
		cfg.ClipNorm, cfg.Clip = 0, clip
		if got := paths(cfg.Validate()); len(got) != 1 || got[0] != "sgd.Config.Clip" {
			t.Errorf("%T: %v", clip, got)
		}
	}
}

func TestNilOption(t *testing.T) { newTrainer(t, valid(), newCentre(3), 1e4, nil) }
