package mix

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// labelled returns a valid configuration for images of two classes.
func labelled() Config {
	return Config{Schema: records.Image(2, 2).WithLabels("a", "b"), Mixtures: 6, ClipNorm: 1,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}, Sampling: Poisson{100, 10}}
}

// TestEverySettingIsChecked: each setting may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	nan, beyond := math.NaN(), math.MaxInt32
	beyond++ // negative where an int has 32 bits
	mixtures := func(n int) func(*Config) { return func(c *Config) { c.Mixtures = n } }
	clip := func(x float64) func(*Config) { return func(c *Config) { c.ClipNorm = x } }
	share := func(x float64) func(*Config) { return func(c *Config) { c.LabelShare = x } }
	noise := func(x float64) func(*Config) { return func(c *Config) { c.NoiseMultiplier = x } }
	schema := func(s records.Schema) func(*Config) { return func(c *Config) { c.Schema = s } }
	by := func(s Sampling, r accountant.Relation) func(*Config) {
		return func(c *Config) { c.Sampling, c.Budget.Relation = s, r }
	}
	centers := func(share, z, clip float64) func(*Config) {
		return func(c *Config) { c.Centers = Centers{share, z, clip} }
	}
	project := func(dim int) func(*Config) { return func(c *Config) { c.Projection.Dim = dim } }
	class := func(change func(*Config)) func(*Config) {
		return func(c *Config) { c.ByClass = true; change(c) }
	}
	add, replace := accountant.AddOrRemoveOne, accountant.ReplaceOne
	plain := records.Image(2, 2)
	table, err := records.NewSchema(records.Flag("f", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	for ok, list := range map[bool][]func(*Config){
		true: {mixtures(1), mixtures(math.MaxInt32), clip(0x1p-60), clip(0x1p60), share(0), share(0.99),
			noise(0), noise(1 << 24), noise(1e-9), by(Poisson{1, 1}, add), by(Poisson{100, 0}, add),
			by(Poisson{math.MaxInt32, 100}, add), by(Poisson{100, 100}, add),
			by(PoissonReplaceOne{100, 100}, replace), by(WithoutReplacement{100, 100}, replace),
			centers(.5, 0, 1), centers(0, 1, 0x1p60), centers(0, 1<<24, 0x1p-60), project(1),
			project(1 << 20), class(func(*Config) {}), class(by(Poisson{100, 50}, add)), schema(plain)},
		false: {mixtures(0), mixtures(-1), mixtures(beyond), clip(0), clip(0x1p-61),
			clip(0x1p61), clip(nan), share(-.1), share(1), share(nan), noise(-1), noise(1<<24 + 1),
			noise(nan), by(nil, add), by(&Poisson{100, 10}, add), by(Poisson{100, 10}, replace),
			by(PoissonReplaceOne{100, 10}, add), by(WithoutReplacement{100, 10}, add),
			by(Poisson{0, 0}, add), by(Poisson{-1, 0}, add), by(Poisson{beyond, 1}, add),
			by(Poisson{100, 101}, add), by(Poisson{100, -1}, add), centers(0, 0, 1), centers(1, 0, 1),
			centers(-.1, 0, 1), centers(nan, 0, 1), centers(.5, 1, 1), centers(0, 1<<24+1, 1),
			centers(0, -1, 1), centers(.5, 0, 0), centers(.5, 0, 0x1p61), project(-1), project(1<<20 + 1),
			func(c *Config) { c.Projection.Seed = 3 },
			func(c *Config) { c.Projection.Dim, c.Centers = 2, Centers{.5, 0, 1} },
			class(mixtures(7)), class(schema(plain)), class(by(Poisson{100, 51}, add)),
			class(func(c *Config) { // four times the degree is 100 in an int
				c.Schema, c.Mixtures = plain.WithLabels("a", "b", "c", "d"), 8
				c.Sampling = Poisson{100, math.MaxInt/2 + 1 + 25}
			}),
			class(by(WithoutReplacement{100, 10}, replace)),
			class(schema(plain.WithLabels("a"))), class(func(c *Config) { c.Schema = c.Schema.ByPerson(2) }),
			func(c *Config) { c.Schema, c.LabelShare = plain, .5 }, schema(table),
			schema(records.Sets(4, 2)), schema(records.Schema{}),
			func(c *Config) { c.Budget.Epsilon = 0 }},
	} {
		for i, change := range list {
			c := labelled()
			if change(&c); (c.validate() == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, c.validate())
			}
		}
	}
}

// TestStatesOfPasses: a pass takes a state and a secret only if they are those of a pass of its
// plan. A shard of more records than were counted is refused when they are added.
func TestStatesOfPasses(t *testing.T) {
	c := labelled()
	c.ByClass, c.Centers, c.NoiseMultiplier, c.LabelShare = true, Centers{0, 1, 1}, 1, 0.5
	for _, centred := range []bool{true, false} {
		if !centred {
			c.Centers = Centers{}
		}
		w := newWork(c)
		positions := func(list ...uint64) (b []byte) {
			for _, n := range list {
				b = binary.LittleEndian.AppendUint64(b, n)
			}
			return b
		}
		good := func() (passState, passSecret) {
			s := passState{Run: "r", Shards: []string{"one", "two"}, Mixtures: []int{2, 0}}
			if centred {
				s.Centers = [][]float32{make([]float32, 4), make([]float32, 4)}
			}
			return s, passSecret{positions(0, 0, 1, 0, 3, 2), make([][]byte, 2)}
		}
		for what, x := range map[string]struct {
			change func(*passState, *passSecret)
			ok     bool
		}{
			"as it is":       {func(*passState, *passSecret) {}, true},
			"all mixtures":   {func(s *passState, _ *passSecret) { s.Mixtures = []int{6, 0} }, true},
			"none":           {func(s *passState, _ *passSecret) { s.Mixtures = []int{0, 0} }, false},
			"too many":       {func(s *passState, _ *passSecret) { s.Mixtures = []int{4, 3} }, false},
			"below 0":        {func(s *passState, _ *passSecret) { s.Mixtures = []int{-1, 2} }, false},
			"a part less":    {func(s *passState, _ *passSecret) { s.Mixtures = []int{2} }, false},
			"a part more":    {func(s *passState, _ *passSecret) { s.Mixtures = []int{2, 0, 0} }, false},
			"no shards":      {func(s *passState, _ *passSecret) { s.Shards = nil }, false},
			"a shard twice":  {func(s *passState, _ *passSecret) { s.Shards[1] = "one" }, false},
			"without a name": {func(s *passState, _ *passSecret) { s.Shards[0] = "" }, false},
			"a centre more": {func(s *passState, _ *passSecret) {
				s.Centers = append(s.Centers, make([]float32, 4))
			}, false},
			"a sample less":   {func(_ *passState, x *passSecret) { x.Samples = x.Samples[1:] }, false},
			"no sample":       {func(_ *passState, x *passSecret) { x.Samples[0] = []byte("{}") }, false},
			"a position less": {func(_ *passState, x *passSecret) { x.First = x.First[8:] }, false},
			"a shard more": {func(_ *passState, x *passSecret) {
				x.First = append(x.First, positions(3, 3)...)
			}, false},
			"falling": {func(_ *passState, x *passSecret) { x.First = positions(0, 0, 2, 0, 1, 2) }, false},
			"a large one": {func(_ *passState, x *passSecret) {
				x.First = positions(0, 0, 1, 0, 3, 1<<63)
			}, false},
		} {
			state, secret := good()
			x.change(&state, &secret)
			text, err := json.Marshal(secret)
			if err != nil {
				t.Fatal(err)
			}
			p, err := state.pass(PurposeMixtures, text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Partial(p, nil); (err == nil) != x.ok {
				t.Errorf("%v, %s: %v", centred, what, err)
			}
		}
		state, secret := good()
		if centred {
			state.Centers = [][]float32{make([]float32, 4), make([]float32, 3)}
		} else {
			state.Centers = [][]float32{make([]float32, 4), make([]float32, 4)}
		}
		text, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		p, err := state.pass(PurposeMixtures, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Partial(p, nil); err == nil {
			t.Errorf("%v: centres that the plan does not have are accepted", centred)
		}
		state, _ = good()
		if p, err = state.pass(PurposeMixtures, text); err != nil {
			t.Fatal(err)
		}
		for labels, ok := range map[string]bool{"\x00": true, "": false, "\x00\x00": false,
			"\x01": false} {
			counter, err := w.passCounter(p)
			if err != nil {
				t.Fatal(err)
			}
			list := make([]int32, len(labels))
			for i, b := range []byte(labels) {
				list[i] = int32(b)
			}
			rows, err := records.FromFlat(c.Schema, make([]float32, 4*len(labels)), list...)
			if err != nil {
				t.Fatal(err)
			}
			if err := counter.Begin("one"); err != nil {
				t.Fatal(err)
			}
			added := counter.Add(t.Context(), rows)
			if surplus := len(labels) == 2 || labels == "\x01"; (added != nil) != surplus {
				t.Errorf("labels %q of a shard with one record of class 0: %v", labels, added)
			}
			if err := counter.End(); added == nil && (err == nil) != ok {
				t.Errorf("labels %q of a shard with one record of class 0: at its end %v", labels, err)
			}
			if !ok {
				continue
			}
			err = errors.Join(counter.Begin("one"), counter.Add(t.Context(), rows), counter.End())
			if err != nil {
				t.Errorf("the same shard once more: %v", err)
			}
		}
	}
}

// TestForgedReleases: a release is read from what it wrote, and from nothing else.
func TestForgedReleases(t *testing.T) {
	c := labelled()
	c.ByClass, c.NoiseMultiplier, c.LabelShare = true, 1, 0.5
	fresh := func() *Model {
		w := newWork(c)
		m := &Model{work: w, rows: w.newRows(0, 0), parts: []int32{0, 1, 1}}
		m.rows.features = make([]float32, 3*m.rows.dim)
		m.rows.labels = make([]float32, 3*m.rows.classes)
		return m
	}
	for what, x := range map[string]struct {
		change func(m *Model)
		ok     bool
	}{
		"as it is":      {func(*Model) {}, true},
		"a part less":   {func(m *Model) { m.parts = m.parts[1:] }, false},
		"a part more":   {func(m *Model) { m.parts = append(m.parts, 0) }, false},
		"no such class": {func(m *Model) { m.parts[1] = 2 }, false},
		"below 0":       {func(m *Model) { m.parts[1] = -1 }, false},
		"a row less":    {func(m *Model) { m.rows.features = m.rows.features[m.rows.dim:] }, false},
		"no rows": {func(m *Model) { m.rows.features, m.rows.labels, m.parts = nil, nil, nil },
			false},
		"NaN": {func(m *Model) { m.rows.features[1] = float32(math.NaN()) }, false},
		"more than the plan has": {func(m *Model) {
			m.rows.features = slices.Repeat(m.rows.features, 3)
			m.rows.labels = slices.Repeat(m.rows.labels, 3)
			m.parts = slices.Repeat(m.parts, 3)
		}, false},
		"no degree": {func(m *Model) { m.work.config.Sampling = Poisson{100, 0} }, false},
		"no noise":  {func(m *Model) { m.work.config.NoiseMultiplier = 0 }, false},
	} {
		m := fresh()
		x.change(m)
		f, err := m.Encode()
		if err == nil {
			_, err = readModel(f, synth.Loading{})
		}
		if (err == nil) != x.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}
