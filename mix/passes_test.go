package mix_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// elsewhere reads shards as other processes would. It reads each shard twice, in pieces of three
// records, seals the sums, and merges them in another order.
type elsewhere struct {
	plan   *mix.Plan
	key    mechanism.Key
	shards []records.Data
	passes []synth.Pass
	// open is true if sums are merged without sealing.
	open bool
	// piece, if not nil, replaces each piece of a shard in a pass.
	piece func(pass, shard int, data records.Data) records.Data
}

func (e *elsewhere) names() (list []string) {
	for i := range e.shards {
		list = append(list, fmt.Sprint("shard ", i))
	}
	return list
}

func (e *elsewhere) read(ctx context.Context, p synth.Pass) (*mechanism.Partial, error) {
	e.passes = append(e.passes, p)
	all, err := e.plan.Partial(synth.Pass{Purpose: p.Purpose, State: p.State})
	if err != nil {
		return nil, err
	}
	for i := range 2 * len(e.shards) {
		shard := (i*7 + 3) % len(e.shards)
		sums, err := e.plan.Partial(p)
		if err != nil {
			return nil, err
		}
		if err := sums.Begin(e.names()[shard]); err != nil {
			return nil, err
		}
		for lo, n := 0, e.shards[shard].Len(); lo < n; lo += 3 {
			piece := part(e.shards[shard], lo, min(lo+3, n))
			if e.piece != nil {
				piece = e.piece(len(e.passes), shard, piece)
			}
			if err := sums.Add(ctx, piece); err != nil {
				return nil, err
			}
		}
		if e.open {
			if err := all.Merge(sums); err != nil {
				return nil, err
			}
			continue
		}
		sealed, err := sums.Seal(e.key, mechanism.Shard{Name: e.names()[shard]})
		if err != nil {
			return nil, err
		}
		if err := all.Open(e.key, sealed); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// picked is a selection of rows of a data set.
type picked struct {
	records.Data
	rows []int32
}

func (p picked) Len() int { return len(p.rows) }

func (p picked) Range(lo, hi int, b *device.Batch) { p.Data.Gather(p.rows[lo:hi], b) }

func (p picked) Gather(rows []int32, b *device.Batch) {
	list := make([]int32, len(rows))
	for i, r := range rows {
		list[i] = p.rows[r]
	}
	p.Data.Gather(list, b)
}

// part returns the records from lo to hi.
func part(d records.Data, lo, hi int) records.Data {
	p := picked{Data: d}
	for i := lo; i < hi; i++ {
		p.rows = append(p.rows, int32(i))
	}
	return p
}

// cut divides records into shards of different sizes. The last shard is empty.
func cut(d records.Data, shards int) (list []records.Data) {
	for i := range shards {
		lo, hi := d.Len()*i/shards, d.Len()*(i+1)/shards
		list = append(list, part(d, lo, hi))
	}
	return append(list, part(d, 0, 0))
}

func rowsOf(t *testing.T, g *synth.Generator) []any {
	t.Helper()
	x, y := g.Model().(*mix.Model).Rows().Matrices()
	return []any{x.Data, y.Data}
}

// fixed sets the noise multipliers, so nothing has to be calibrated.
func fixed(c mix.Config, mixtures int) mix.Config {
	c.NoiseMultiplier, c.Budget.Epsilon, c.Mixtures = 1.5, 1e3, mixtures
	if c.Centers.Share > 0 {
		c.Centers.Share, c.Centers.NoiseMultiplier = 0, 2
	}
	return c
}

// TestPassesAreTheSameBits checks that FitPasses releases the same bits as FitOn and leaves the
// same ledger entries. It does so for every variant with Poisson sampling, with several passes of
// mixtures, with 1, 3 and 17 shards, and with sealed and unsealed sums.
func TestPassesAreTheSameBits(t *testing.T) {
	defer mix.PassesOf(2000)()
	s := records.Image(2, 3).WithLabels("a", "b")
	data := grey(t, 50, s)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		all := variants(s, r, data.Len())
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if strings.Contains(name, "subset") {
				continue
			}
			p := mustPlan(t, fixed(all[name], 600))
			one := ledger.New(p.Budget())
			want := must(p.FitOn(privacytest.Seeded(t, t.Context(), 7), one, data))(t)
			for _, shards := range []int{3, 17} {
				e := &elsewhere{plan: p, key: mechanism.NewKey(), shards: cut(data, shards),
					open: shards == 3}
				l := ledger.New(p.Budget())
				got, err := p.FitPasses(privacytest.Seeded(t, t.Context(), 7), l, e.read,
					synth.Shards(e.names()...))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !reflect.DeepEqual(rowsOf(t, want), rowsOf(t, got)) {
					t.Errorf("%v, %s, %d shards: FitPasses and FitOn release different rows", r, name, shards)
				}
				if !reflect.DeepEqual(one.Entries(), l.Entries()) {
					t.Errorf("%v, %s, %d shards: the ledger has %v, want %v", r, name, shards,
						l.Entries(), one.Entries())
				}
				if len(e.passes) < 3 {
					t.Errorf("%d passes, want at least 3: the test has no power", len(e.passes))
				}
			}
		}
	}
}

// TestPassesOfPersons checks that FitPasses on persons releases the same bits as FitOn.
func TestPassesOfPersons(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b")
	rows := grey(t, 60, s)
	persons := func(d records.Data) records.Data {
		keys := make([]int, d.Len())
		for i := range keys {
			keys[i] = i/7*3 + []int{5, 6, 6, 4, 4, 4, 4}[i%7] // one row, two rows, and one too many
		}
		return must(records.GroupBy(d, keys, 3))(t)
	}
	c := mix.Config{Schema: s.ByPerson(3), Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 20, Degree: 4}, Mixtures: 200, ClipNorm: 1, NoiseMultiplier: 1.5}
	p := mustPlan(t, c)
	users := func() *ledger.Ledger {
		return ledger.New(p.Budget(), ledger.WithUnit(records.UnitUser))
	}
	want := must(p.FitOn(privacytest.Seeded(t, t.Context(), 3), users(), persons(rows)))(t)
	names := []string{"first", "second"}
	read := func(ctx context.Context, pass synth.Pass) (*mechanism.Partial, error) {
		all, err := p.Partial(synth.Pass{Purpose: pass.Purpose, State: pass.State})
		for i, rows := range []records.Data{part(rows, 0, 21), part(rows, 21, 60)} {
			sums, err1 := p.Partial(pass)
			k := mechanism.NewKey()
			err = errors.Join(err, err1, sums.Begin(names[i]),
				sums.Add(ctx, records.WithPart(persons(rows), i, 2)))
			sealed, err2 := sums.Seal(k, mechanism.Shard{Name: names[i]})
			err = errors.Join(err, err2, all.Open(k, sealed))
		}
		return all, err
	}
	got := must(p.FitPasses(privacytest.Seeded(t, t.Context(), 3), users(), read,
		synth.Shards(names...)))(t)
	if !reflect.DeepEqual(rowsOf(t, want), rowsOf(t, got)) {
		t.Error("FitPasses and FitOn release different rows")
	}
}

// TestReplayOfPasses checks that with the same noise, passes over neighbouring data sets release
// the same model. The purposes of the passes and the lengths of their public states must also be
// equal.
func TestReplayOfPasses(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b")
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for i, pair := range privacytest.Neighbours(t, s, r, 12, 3) {
			if i%9 != 4 || pair.Data.Len() == 0 && r == accountant.ReplaceOne {
				continue // the test of FitOn covers the other pairs
			}
			c := fixed(variants(s, r, pair.Data.Len())["poisson centred"], 42)
			p := mustPlan(t, c)
			privacytest.Replay[records.Data]{Budget: c.Budget, Data: pair.Data,
				Neighbour: pair.Neighbour, Seeds: 1,
				Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
					e := &elsewhere{plan: p, key: mechanism.NewKey(), shards: cut(d, 2)}
					g, err := p.FitPasses(ctx, l, e.read, synth.Shards(e.names()...),
						synth.On(device.CPUWith(1))) // with one worker the order of calls is fixed
					if err != nil {
						return nil, err
					}
					var seen []any
					for _, pass := range e.passes {
						seen = append(seen, pass.Purpose, len(pass.State))
					}
					model, err := g.Model().Encode()
					return []any{model, seen}, err
				}}.Check(t)
		}
	}
}

// TestSecretsTellNothing checks that the length of a pass's secret does not depend on the records.
// The secret must print as [private], and the public state must not contain it.
func TestSecretsTellNothing(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b")
	p := mustPlan(t, fixed(variants(s, accountant.AddOrRemoveOne, 50)["poisson centred"], 42))
	lengths := map[int]bool{}
	for _, n := range []int{0, 1, 300} {
		e := &elsewhere{plan: p, shards: cut(grey(t, n, s), 3), key: mechanism.NewKey()}
		if _, err := p.FitPasses(t.Context(), ledger.New(p.Budget()), e.read,
			synth.Shards(e.names()...)); err != nil {
			t.Fatal(err)
		}
		last := e.passes[len(e.passes)-1]
		lengths[len(last.Secret)] = true
		for _, text := range []string{fmt.Sprint(last), fmt.Sprintf("%+v %#v", last, last.Secret)} {
			if !strings.Contains(text, "[private]") || strings.Contains(text, "Samples") {
				t.Errorf("a pass prints as %s, want [private] and no samples", text)
			}
		}
	}
	if len(lengths) != 1 {
		t.Errorf("secrets have lengths %v, want only one length", lengths)
	}
}

// TestShardsThatChange checks that a shard is refused if it changes between passes. An additional
// record would have the position of another shard's record and be sampled together with it.
func TestShardsThatChange(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b")
	p := mustPlan(t, fixed(variants(s, accountant.AddOrRemoveOne, 50)["poisson"], 42))
	for _, change := range []int{-1, 1} {
		e := &elsewhere{plan: p, key: mechanism.NewKey(), shards: cut(grey(t, 50, s), 3)}
		e.piece = func(pass, shard int, d records.Data) records.Data {
			if pass < 2 || shard != 1 || d.Len() < 3 {
				return d
			}
			return picked{d, [][]int32{{0, 1}, {0, 1, 2, 2}}[(change+1)/2]}
		}
		l := ledger.New(p.Budget())
		var wrong *param.Error
		g, err := p.FitPasses(t.Context(), l, e.read, synth.Shards(e.names()...))
		if !errors.As(err, &wrong) || g != nil {
			t.Errorf("%+d records: got %v, want *param.Error and no model", change, err)
		}
		for _, line := range l.Entries() {
			if line.Spent > 0 {
				t.Errorf("%+d records: noise was drawn: %+v", change, line)
			}
		}
	}
}

// TestPassesThatCannotBe checks four refusals: subsets of a fixed size, shards without names,
// passes with invalid state, and another number of records than the public number.
func TestPassesThatCannotBe(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b")
	data := grey(t, 20, s)
	early := false // whether the last run failed before it reserved anything
	try := func(c mix.Config, opts ...synth.Option) error {
		p := mustPlan(t, fixed(c, 42))
		e := &elsewhere{plan: p, key: mechanism.NewKey(), shards: cut(data, 2)}
		if opts == nil {
			opts = []synth.Option{synth.Shards(e.names()...)}
		}
		l := ledger.New(p.Budget())
		g, err := p.FitPasses(t.Context(), l, e.read, opts...)
		for _, line := range l.Entries() {
			if line.Spent > 0 || g != nil {
				t.Errorf("%v: noise was drawn: %+v", err, line)
			}
		}
		early = len(l.Entries()) == 0
		return err
	}
	var wrong *param.Error
	all := variants(s, accountant.ReplaceOne, 20)
	if err := try(all["subset"]); !errors.As(err, &wrong) || !early {
		t.Errorf("subsets: got %v, want *param.Error before anything is reserved", err)
	}
	for _, names := range [][]string{nil, {"shard 0", ""}, {"shard 0", "shard 0"}} {
		if err := try(all["poisson"], synth.Shards(names...)); !errors.As(err, &wrong) || !early {
			t.Errorf("shards %q: got %v, want *param.Error before anything is reserved", names, err)
		}
	}
	if err := try(all["poisson"], synth.Shards("shard 0", "another")); !errors.As(err, &wrong) {
		t.Errorf("unknown shard: got %v, want *param.Error", err)
	}
	for _, name := range []string{"poisson", "poisson centred"} {
		if err := try(variants(s, accountant.ReplaceOne, 21)[name]); !errors.Is(err,
			synth.ErrRecords) || !early {
			t.Errorf("%s, wrong number of records: got %v, want ErrRecords before anything is reserved",
				name, err)
		}
	}
	p := mustPlan(t, fixed(all["poisson"], 42))
	for _, pass := range []synth.Pass{{}, {Purpose: mix.PurposeMixtures},
		{Purpose: mix.PurposeMixtures, State: []byte(`{"shards":["a"],"mixtures":[42000]}`)},
		{Purpose: mix.PurposeMixtures, State: []byte(`{"shards":["a"],"mixtures":[42]}`),
			Secret: synth.Secret("no secret")},
		{Purpose: mix.PurposeMixtures, State: []byte(`{"shards":["a"],"mixtures":[42]}`),
			Secret: synth.Secret(`{"First":"` + strings.Repeat("A", 22) + `==","Samples":[]}`)},
		{Purpose: mix.PurposeCenters, State: []byte(`{"shards":["a"]}`)}} {
		if sums, err := p.Partial(pass); err == nil {
			t.Errorf("purpose %q: got sums %v, want an error", pass.Purpose, sums)
		}
	}
	sums := must(p.Partial(synth.Pass{Purpose: mix.PurposeMixtures,
		State: []byte(`{"shards":["a"],"mixtures":[42]}`)}))(t)
	if err := sums.Add(t.Context(), data); !errors.As(err, &wrong) {
		t.Errorf("Add before Begin: got %v, want *param.Error", err)
	}
	if err := sums.Begin("a"); !errors.As(err, &wrong) {
		t.Errorf("Begin without a secret: got %v, want *param.Error", err)
	}
}

// TestPassesResume checks that a run resumes from its checkpoint after a failed pass. No mixture is
// lost, because grants are taken after the sums have been read, and no mixture is drawn twice.
func TestPassesResume(t *testing.T) {
	defer mix.PassesOf(2000)()
	s := records.Image(2, 3).WithLabels("a", "b")
	c := fixed(variants(s, accountant.AddOrRemoveOne, 50)["poisson by class"], 600)
	p := mustPlan(t, c)
	l := ledger.New(p.Budget())
	kept := synth.Checkpoint(t.TempDir() + "/run.ckpt")
	e := &elsewhere{plan: p, key: mechanism.NewKey(), shards: cut(grey(t, 50, s), 3)}
	broken := errors.New("broken")
	read := func(ctx context.Context, pass synth.Pass) (*mechanism.Partial, error) {
		if len(e.passes) == 2 {
			return nil, broken
		}
		return e.read(ctx, pass)
	}
	if _, err := p.FitPasses(t.Context(), l, read, synth.Shards(e.names()...),
		kept); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	half := l.Entries()
	g := must(p.FitPasses(t.Context(), l, e.read, synth.Shards(e.names()...), kept))(t)
	if n := g.Model().(*mix.Model).Rows().Len(); n != 600 {
		t.Errorf("got %d mixtures, want 600", n)
	}
	for i, line := range l.Entries() {
		if line.Reserved != half[i].Reserved || line.Spent != line.Reserved || line.Purpose ==
			mix.PurposeMixtures && half[i].Spent == 0 {
			t.Errorf("ledger entry %d: %+v at the end, %+v after the failure", i, line, half[i])
		}
	}
}
