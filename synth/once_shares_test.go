package synth_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// releasesTap records every release. It calls the function before just before a release is drawn.
type releasesTap struct {
	list   []entropy.Release
	before func(made int)
}

func (*releasesTap) Source() (*entropy.Source, error) { return entropy.New() }
func (*releasesTap) Sample(entropy.Sample)            {}
func (*releasesTap) Refuse(string, error)             {}
func (*releasesTap) Spend(string, any, int, error)    {}
func (s *releasesTap) Release(r *entropy.Release) error {
	if s.before != nil {
		s.before(len(s.list))
	}
	s.list = append(s.list, *r)
	return nil
}

// TestSharesAreTogetherTheRelease checks that all shares together have the effect of the single
// release. Their mean must have the noise of the single release, and Once must return this mean.
func TestSharesAreTogetherTheRelease(t *testing.T) {
	const z, std = 5.0, 10.0
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	var out [][]float64
	place := []float64{-1} // must stay unchanged: Once returns the mean only
	p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "once",
		Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}},
		reading{func(r *synth.Run) error {
			var err error
			out, err = r.Once("once", []int{1}, func() (float64, []mechanism.Part, error) {
				sum := mechanism.NewFixedSum(1, mechanism.GridFor(std))
				sum.AddInt(0, 100)
				return 1 / z, []mechanism.Part{{Sum: sum, Std: std, Out: place}}, nil
			})
			return err
		}})
	if err != nil {
		t.Fatal(err)
	}
	tap := &releasesTap{}
	if _, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), table,
		synth.Checkpoint(filepath.Join(t.TempDir(), "run"))); err != nil {
		t.Fatal(err)
	}
	if place[0] != -1 {
		t.Errorf("a share is written to the caller's Out: %v", place)
	}
	square, precision, mean := 0.0, 0.0, 0.0
	for _, r := range tap.list {
		square += r.Effect * r.Effect
		precision += 1 / (r.Std[0] * r.Std[0])
		mean += r.Outputs[0][0] / float64(len(tap.list))
	}
	if len(tap.list) < 2 || math.Abs(math.Sqrt(square)*z-1) > 1e-9 {
		t.Errorf("%d shares of effect %v together, want %v", len(tap.list), math.Sqrt(square), 1/z)
	}
	if together := 1 / math.Sqrt(precision); math.Abs(together/std-1) > 1e-9 {
		t.Errorf("noise of %v together, want %v", together, std)
	}
	if len(out) != 1 || math.Abs(out[0][0]-mean) > 1e-6 {
		t.Errorf("returned %v, the mean of the shares is %v", out, mean)
	}
}

// TestAKilledRunLosesOneShare kills a run while it draws each of its shares. Only this share may be
// lost. A second process averages the earlier shares and those that it draws. So it is in a part.
func TestAKilledRunLosesOneShare(t *testing.T) {
	const z = 5.0
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	var out [][]float64
	var wider float64
	p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "once",
		Event: accountant.Gaussian{NoiseMultiplier: z}, Count: 1, Once: true}},
		reading{func(r *synth.Run) error {
			var err error
			out, err = r.Once("once", []int{1}, func() (float64, []mechanism.Part, error) {
				sum := mechanism.NewFixedSum(1, mechanism.GridFor(10))
				sum.AddInt(0, 100)
				return 1 / z, []mechanism.Part{{Sum: sum, Std: 10}}, nil
			})
			wider = r.Wider("once")
			return err
		}})
	if err != nil {
		t.Fatal(err)
	}
	part := synth.Inner{Plan: &p, Prefix: "x: "}
	whole := must(synth.NewProgram("enclosing", table.Schema(), budget, part.Stages(),
		enclosing{part: part}))(t)
	for _, p := range []*synth.Program{&p, &whole} { // the run itself, and as a part of another
		run := func(path string, before func(made int)) []entropy.Release {
			t.Helper()
			tap := &releasesTap{before: before}
			_, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), table,
				synth.Checkpoint(path))
			if err != nil {
				t.Fatal(err)
			}
			return tap.list
		}
		path, atDeath := filepath.Join(t.TempDir(), "run"), t.TempDir()
		first := run(path, func(made int) {
			file, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(filepath.Join(atDeath, strconv.Itoa(made)), file, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		all := len(first)
		for killed := range all {
			second := run(filepath.Join(atDeath, strconv.Itoa(killed)), nil)
			kept := append(slices.Clone(first[:killed]), second...)
			if len(kept) != all-1 {
				t.Errorf("killed at share %d: the two processes kept %d of %d shares, want all but one",
					killed, len(kept), all)
				continue
			}
			mean := 0.0
			for _, r := range kept {
				mean += r.Outputs[0][0] / float64(len(kept))
			}
			if math.Abs(out[0][0]-mean) > 1e-6 {
				t.Errorf("killed at share %d: returned %v, the mean of the shares is %v", killed, out, mean)
			}
			if want := math.Sqrt(float64(all) / float64(all-1)); math.Abs(wider/want-1) > 1e-9 {
				t.Errorf("killed at share %d: noise %v times as wide, want %v", killed, wider, want)
			}
		}
	}
}

// TestTheLastShareIsKept checks that the file holds all shares of a release when Once returns it. A
// process that is killed at that moment then loses no share.
func TestTheLastShareIsKept(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	path := filepath.Join(t.TempDir(), "run")
	tap, made := &releasesTap{}, 0
	p, err := synth.NewProgram("reading", table.Schema(), budget, []synth.Stage{{Purpose: "once",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1, Once: true}},
		reading{func(r *synth.Run) error {
			_, err := r.Once("once", []int{1}, func() (float64, []mechanism.Part, error) {
				return 0.2, []mechanism.Part{{Sum: mechanism.NewFixedSum(1, 0x1p-20), Std: 10}}, nil
			})
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f, err := synth.DecodeFile(bytes.NewReader(text))
			if err != nil {
				return err
			}
			var h struct{ Releases []struct{ Made int } }
			if err := json.Unmarshal(f.Header, &h); err != nil || len(h.Releases) != 1 {
				t.Fatalf("%v, %s", err, f.Header)
			}
			made = h.Releases[0].Made
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.FitOn(entropy.WithTap(t.Context(), tap), ledger.New(budget), table,
		synth.Checkpoint(path)); err != nil {
		t.Fatal(err)
	}
	if made < 2 || made != len(tap.list) {
		t.Errorf("the file holds %d of %d shares", made, len(tap.list))
	}
}

// TestOnceNeedsItsField checks that a stage without the field Once is refused before it is drawn:
// its single use would have the noise of one of eight shares.
func TestOnceNeedsItsField(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	for _, path := range []string{"", filepath.Join(t.TempDir(), "run")} {
		p, err := synth.NewProgram("reading", table.Schema(), accountant.Budget{Epsilon: 10, Delta: 1e-5},
			[]synth.Stage{{Purpose: "a", Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1}},
			reading{func(r *synth.Run) error {
				_, err := r.Once("a", []int{1}, func() (float64, []mechanism.Part, error) {
					t.Error("the release is prepared")
					return 0, nil, nil
				})
				return err
			}})
		if err != nil {
			t.Fatal(err)
		}
		var opts []synth.Option
		if path != "" {
			opts = append(opts, synth.Checkpoint(path))
		}
		if _, err := p.Fit(t.Context(), table, opts...); err == nil ||
			!strings.Contains(err.Error(), "Once") {
			t.Errorf("with checkpoint %q: got error %v, want one that names Once", path, err)
		}
	}
}
