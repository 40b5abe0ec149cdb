package compose_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// dying is the work of a system that dies when it starts, before it draws, and then tells what it
// reads.
type dying struct {
	echoes // its words
	died   bool
	read   map[int]bool // the levels of the rows
}

func (d *dying) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	if !d.died {
		d.died = true
		panic("a process dies")
	}
	d.read = map[int]bool{}
	f, _ := records.AsFrame(r.Data)
	for row := range f.Len() {
		d.read[f.Level(row, 0)] = true
	}
	return nil, errStopped
}

// TestTextsAreKeptAtOnce: texts that are found are in the checkpoint before the system that reads
// them starts. It may read for hours until it draws.
func TestTextsAreKeptAtOnce(t *testing.T) {
	data, b := towns(t, usual), accountant.Budget{Epsilon: 2, Delta: 1e-9}
	part := &dying{}
	of := design(func(s records.Schema, b accountant.Budget) (synth.Plan, error) {
		program, err := synth.NewProgram("dying", s, b, []synth.Stage{{Purpose: "sum", Count: 1,
			Event: accountant.Gaussian{NoiseMultiplier: 100}}}, part)
		return &echoPlan{program}, err
	})
	p := levelsPlan(t, compose.Levels{Of: of}, b, data.Schema())
	l, path := ledger.New(b), filepath.Join(t.TempDir(), "run")
	run := func() (err error) {
		defer func() {
			if died := recover(); died != nil {
				err = errStopped
			}
		}()
		_, err = p.FitOn(t.Context(), l, data, synth.Checkpoint(path))
		return err
	}
	if err := errors.Join(run(), run()); !errors.Is(err, errStopped) || !part.died {
		t.Fatal(err)
	}
	if len(part.read) != 5 { // three texts, the other level and missing values
		t.Errorf("after a process has died, the rows are of %d levels, want 5", len(part.read))
	}
}

// TestChoicesStay: the same run again, after it has ended, has what it has released, whether the
// part keeps a state of its own at its end or none.
func TestChoicesStay(t *testing.T) {
	data, b := stripes(t), accountant.Budget{Epsilon: 8, Delta: 1e-5}
	var candidates []compose.Change
	for i := range 40 { // the first, which stands for none, is rarely chosen
		candidates = append(candidates, compose.Change{Distortion: float64(i) / 100})
	}
	for name, of := range map[string]synth.Design{"no state": embedding(60),
		"a state": adversary(60)} {
		p, err := compose.Changes{Of: of, Records: 20,
			Candidates: candidates}.PlanFor(data.Schema(), b)
		if err != nil {
			t.Fatal(name, err)
		}
		l, path := ledger.New(b), filepath.Join(t.TempDir(), "run")
		var files []string
		var chosen []compose.Change
		for range 2 {
			gen, err := p.FitOn(t.Context(), l, data, synth.Checkpoint(path))
			if err != nil {
				t.Fatal(name, err)
			}
			text := must(json.Marshal(gen.Guarantee()))(t)
			files, chosen = append(files, string(text)), append(chosen, chosenBy(t, gen))
		}
		if chosen[0] != chosen[1] || files[0] != files[1] {
			t.Errorf("%s: chosen is %v, and the second time %v", name, chosen[0], chosen[1])
		}
	}
}
