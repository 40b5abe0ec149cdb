package dpgm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

var systems = synth.Systems{dpgm.System()}

// written fits a configuration and returns the file of its model.
func written(t testing.TB, c dpgm.Config) *synth.File {
	t.Helper()
	return encoded(t, fit(t, c, bits(t, 40, 12, 1)))
}

// read returns the model in a file.
func read(f *synth.File, own ...models.DensityArchitecture) (synth.Model, error) {
	return dpgm.System().Model(f, synth.Loading{Backend: device.CPU(), Architectures: own})
}

// TestHeadersThatLieAreRefused checks that headers with wrong sizes are refused before memory is
// allocated for them. The files in this test have valid checksums, because the author of a hostile
// file can compute one.
func TestHeadersThatLieAreRefused(t *testing.T) {
	f := written(t, small(records.Binary(12), accountant.AddOrRemoveOne))
	for name, change := range map[string][2]string{
		"a huge layer":          {`"hidden":[6]`, `"hidden":[2000000000]`},
		"many layers":           {`"hidden":[6]`, `"hidden":[6,6]`},
		"a huge record":         {`"dim":12`, `"dim":2000000000`},
		"another record":        {`"dim":12`, `"dim":13`},
		"too many networks":     {`"networks":3`, `"networks":1000000000`},
		"no networks":           {`"networks":3`, `"networks":0`},
		"an unknown network":    {`"name":"vae"`, `"name":"gpt"`},
		"other features":        {`"in":12`, `"in":1200`},
		"features of no kernel": {`"kernel":"rbf"`, `"kernel":"none"`},
	} {
		lie := *f
		lie.Header = bytes.Replace(f.Header, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(lie.Header, f.Header) {
			t.Errorf("%s: the header does not contain %s:\n%s", name, change[0], f.Header)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(&lie)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
			t.Errorf("%s: %d bytes were allocated, want at most 8 MiB", name, got)
		}
	}
}

// TestTablesOfFeaturesAreBounded checks that a file with features whose table of frequencies
// exceeds the limits is refused. The table would be drawn when records are first assigned to
// clusters.
func TestTablesOfFeaturesAreBounded(t *testing.T) {
	f := written(t, small(records.Binary(12), accountant.AddOrRemoveOne))
	for most, refused := range map[int64]bool{31: true, 32: false} {
		_, err := dpgm.System().Model(f, synth.Loading{Backend: device.CPU(),
			Limits: records.Limits{Parameters: most}})
		var limit *records.LimitError
		if errors.As(err, &limit) != refused || err != nil && !refused {
			t.Errorf("limit %d: %v", most, err)
		}
	}
}

// TestAnEmptyListOfShiftsIsNone checks that an empty list of shifts in a file means no shifts.
// Drawing records from the model must not panic.
func TestAnEmptyListOfShiftsIsNone(t *testing.T) {
	f := written(t, small(records.Binary(12), accountant.AddOrRemoveOne))
	for _, list := range []string{`[]`, `null`} {
		none := *f
		none.Header = bytes.Replace(f.Header, []byte(`{`), []byte(`{"tilts":`+list+`,`), 1)
		m := must(read(&none))(t)
		if _, err := synth.NewGenerator("dpgm", m, ledger.Guarantee{}).Sample(t.Context(), 5); err !=
			nil {
			t.Error(err)
		}
	}
}

// TestUserDefinedArchitecturesAreRead checks that a file with a user-defined architecture can be
// read if the reader gets an architecture of the same name.
func TestUserDefinedArchitecturesAreRead(t *testing.T) {
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Model = custom{models.VAE{Hidden: []int{4}, Latent: 1}}
	f := written(t, c)
	if _, err := read(f); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("an unknown architecture: got %v, want ErrFormat", err)
	}
	if _, err := read(f, c.Model); err != nil {
		t.Error(err)
	}
	gen := fit(t, c, bits(t, 40, 12, 1))
	var b bytes.Buffer
	if err := gen.Save(&b); err != nil {
		t.Fatal(err)
	}
	back := must(systems.Load(&b, synth.WithArchitecture(c.Model)))(t)
	if back.Guarantee().Epsilon != gen.Guarantee().Epsilon {
		t.Error("the loaded generator has another guarantee")
	}
}

type custom struct{ models.VAE }

func (custom) Name() string { return "custom" }

// FuzzDecode checks that every header gives either an error or a model that can draw records.
func FuzzDecode(f *testing.F) {
	good := written(f, small(records.Binary(12), accountant.AddOrRemoveOne))
	f.Add([]byte(good.Header))
	f.Fuzz(func(t *testing.T, header []byte) {
		if !json.Valid(header) {
			return
		}
		m, err := read(&synth.File{Kind: good.Kind, Header: header, Sections: good.Sections})
		if err != nil {
			return
		}
		if _, err := synth.NewGenerator("dpgm", m, ledger.Guarantee{}).Sample(t.Context(), 3); err !=
			nil {
			t.Fatal(err)
		}
	})
}

// TestPaidFeaturesCanBeRead checks that a plan is refused, before anything is paid, if its
// generator could not be read again, and that a table of six million numbers can be.
func TestPaidFeaturesCanBeRead(t *testing.T) {
	for dim, refused := range map[int]bool{1000: false, 3000: true} {
		c := small(records.Interval(6000, 0, 1), accountant.AddOrRemoveOne)
		c.Cluster, c.Features = kmeans.Config{K: 2, Iterations: 2, Share: 0.2},
			rff.RBF{Dim: dim, Bandwidth: 8}
		_, err := c.Plan()
		if wrong := new(param.Error); errors.As(err, &wrong) != refused || err != nil && !refused {
			t.Errorf("%d features: got %v, want a *param.Error: %v", dim, err, refused)
		}
	}
}

// TestChainsOfASmallFileAreBounded: a file holds one bit for each visible unit of the chains, and
// memory holds a number for every unit. A file of 900 kB took 230 MB.
func TestChainsOfASmallFileAreBounded(t *testing.T) {
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Model, c.Marginals = models.RBM{Hidden: 12, Chains: 4, SampleSweeps: 3}, nil
	f := written(t, c)
	lie := *f
	lie.Header = bytes.Replace(f.Header, []byte(`"chains":4`), []byte(`"chains":1000`), 1)
	lie.Sections = slices.Clone(f.Sections)
	for i, s := range lie.Sections {
		if strings.HasSuffix(s.Name, "state") {
			lie.Sections[i].Data = make([]byte, 8+1000*12/8)
		}
	}
	hidden := 3 * (1000*12 - 8*8) // of three networks; a state has 8 bytes besides
	for most, refused := range map[int]bool{hidden: false, hidden - 1: true} {
		_, err := dpgm.System().Model(&lie, synth.Loading{Backend: device.CPU(),
			Limits: records.Limits{Parameters: int64(most)}})
		var limit *records.LimitError
		if errors.As(err, &limit) != refused || err != nil && !refused {
			t.Errorf("limit %d: %v", most, err)
		}
	}
}

// TestSweepsOfASmallFileAreBounded: a file of 800 kB took 95 seconds for three records.
func TestSweepsOfASmallFileAreBounded(t *testing.T) {
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Model, c.Marginals = models.RBM{Hidden: 12, Chains: 4, SampleSweeps: 1 << 16}, nil
	f := written(t, c)
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	steps := (1 << 16) * (12*12 + 12 + 12 + 16*(12+12)) / 120
	for most, refused := range map[int]bool{steps: false, steps - 1: true} {
		_, err := dpgm.System().Model(f, synth.Loading{Backend: device.CPU(),
			Limits: records.Limits{Parameters: int64(most)}})
		var limit *records.LimitError
		if errors.As(err, &limit) != refused || err != nil && !refused {
			t.Errorf("limit %d: %v", most, err)
		}
		if _, err := systems.ReadPlan(plan, synth.WithLimits(records.Limits{
			Parameters: int64(most)})); errors.As(err, &limit) != refused || err != nil && !refused {
			t.Errorf("limit %d of the plan: %v", most, err)
		}
	}
}

// TestDrawsOfMachinesEndBetweenSweeps: a thousand records of a machine of a small file may take
// minutes, so a draw that nobody waits for must not go on to their end.
func TestDrawsOfMachinesEndBetweenSweeps(t *testing.T) {
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Model, c.Marginals = models.RBM{Hidden: 12, Chains: 4, SampleSweeps: 1 << 12}, nil
	g := fit(t, c, bits(t, 40, 12, 1))
	ctx := &countdown{Context: t.Context()}
	ctx.left.Store(9)
	if _, err := g.Sample(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended draw: got error %v, want Canceled", err)
	}
	ctx.left.Store(1 << 20)
	if _, err := g.Sample(ctx, 1); err != nil || 1<<20-ctx.left.Load() < 1<<12 {
		t.Errorf("%d questions, want one a sweep: %v", 1<<20-ctx.left.Load(), err)
	}
}
