package beam_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

const people = 700

var budget = accountant.Budget{Epsilon: 1, Delta: 1e-5}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var tableSchema = must(records.NewSchema(records.Numeric("age", 17, 90),
	records.Integer("children", 0, 9).WithMissing(), records.Categorical("work", "a", "b", "c"),
	records.Label("income", "low", "high")))

var setSchema = records.Sets(12, 6)

// vectorSchema is the schema of records that are mixed.
var vectorSchema = records.Interval(4, 0, 1).WithLabels("low", "high")

// values returns row i of the table as texts.
func values(i int) []string {
	rng := rand.New(rand.NewPCG(uint64(i), 5))
	children := strconv.Itoa(rng.IntN(9))
	if rng.IntN(10) == 0 {
		children = ""
	}
	return []string{fmt.Sprintf("%.1f", 17+70*rng.Float64()), children,
		[]string{"a", "b", "c"}[rng.IntN(3)], []string{"low", "high"}[rng.IntN(2)]}
}

func items(i int) []uint32 {
	return []uint32{uint32(i % 5), uint32(5 + i%4), uint32(9 + i*i%3)}
}

// some returns rows lo … hi-1 of a data set of people.
func some(s records.Schema, lo, hi int) records.Data {
	if s.Sparse() {
		var rows [][]uint32
		for i := lo; i < hi; i++ {
			rows = append(rows, items(i))
		}
		return must(records.FromItems(s, rows))
	}
	if s.Kind() != records.MixedTable {
		var flat []float32
		var labels []int32
		for i := lo; i < hi; i++ {
			rng := rand.New(rand.NewPCG(uint64(i), 6))
			for range s.Dim() {
				flat = append(flat, rng.Float32())
			}
			labels = append(labels, int32(rng.IntN(2)))
		}
		return must(records.FromFlat(s, flat, labels...))
	}
	b := must(records.NewFrameBuilder(s))
	for i := lo; i < hi; i++ {
		row := make([]any, 4)
		for j, v := range values(i) {
			if v != "" {
				row[j] = v
			}
		}
		if err := b.Append(row...); err != nil {
			panic(err)
		}
	}
	return b.Frame()
}

// fails is the number of shards that will still fail half way, and opened the number of shards
// opened.
var fails, opened atomic.Int64

var errBroken = errors.New("the source broke")

// embedded returns a source that reads the rows of a location "lo hi" of the tests' data.
func embedded(s records.Schema) beam.Source {
	return func(_ context.Context, location string) iter.Seq2[records.Data, error] {
		return func(yield func(records.Data, error) bool) {
			opened.Add(1)
			var lo, hi int
			if _, err := fmt.Sscan(location, &lo, &hi); err != nil {
				yield(nil, err)
				return
			}
			middle := (lo + hi) / 2
			if !yield(some(s, lo, middle), nil) {
				return
			}
			if fails.Add(-1) >= 0 {
				yield(nil, errBroken)
				return
			}
			yield(some(s, middle, hi), nil)
		}
	}
}

func TestMain(m *testing.M) {
	beam.RegisterSource("table", embedded(tableSchema))
	beam.RegisterSource("sets", embedded(setSchema))
	beam.RegisterSource("vectors", embedded(vectorSchema))
	sdk.RegisterFunction(twice)
	sdk.RegisterFunction(again)
	sdk.RegisterFunction(bundleOf)
	sdk.Init()
	os.Exit(m.Run())
}

// job returns a job with the given number of shards, of which later ones are larger.
func job(t testing.TB, source string, shards int) beam.Job {
	t.Helper()
	j := beam.Job{Source: source, Key: mechanism.NewKey(), Folder: t.TempDir()}
	for i := range shards {
		j.Shards = append(j.Shards, beam.Shard{Name: fmt.Sprint("shard ", i),
			Location: fmt.Sprint(people*i*i/(shards*shards), " ", people*(i+1)*(i+1)/(shards*shards))})
	}
	return j
}

func seeded(t testing.TB) context.Context {
	return privacytest.Seeded(t, context.Background(), 5)
}

func merfPlan(t testing.TB) *merf.Plan {
	t.Helper()
	p, err := merf.Config{Schema: tableSchema, Budget: budget,
		Generator: merf.GeneratorConfig{Steps: 5}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// passPlans returns plans of all systems that read records in passes, by the name of their source.
func passPlans(t testing.TB) map[string]synth.PassPlan {
	common := sets.Common{Schema: setSchema, Budget: budget}
	return map[string]synth.PassPlan{"merf": merfPlan(t),
		"independent": must(sets.Independent{Common: common}.Plan()),
		"mwem":        must(sets.MWEM{Common: common, Rounds: 4, Queries: 40}.Plan())}
}

func sourceOf(s records.Schema) string {
	if s.Sparse() {
		return "sets"
	}
	return "table"
}

// drawn returns the numbers of records that a generator draws from a fixed seed.
func drawn(t testing.TB, g *synth.Generator) []any {
	t.Helper()
	data, err := g.Sample(context.Background(), 60, synth.Seed(3))
	if err != nil {
		t.Fatal(err)
	}
	var b device.Batch
	data.Range(0, data.Len(), &b)
	if b.Sparse != nil {
		return []any{b.Sparse.Offsets, b.Sparse.Items}
	}
	return []any{b.Dense.Data, b.Labels}
}

// TestFitIsTheSameBits: for every plan and 1, 3 and 17 shards, the result has the same bits as in
// memory, and the ledger has the same lines.
func TestFitIsTheSameBits(t *testing.T) {
	for name, p := range passPlans(t) {
		one := ledger.New(budget)
		want, err := p.FitOn(seeded(t), one, some(p.Schema(), 0, people))
		if err != nil {
			t.Fatal(err)
		}
		for _, shards := range []int{1, 3, 17} {
			l := ledger.New(budget)
			got, err := beam.Fit(seeded(t), job(t, sourceOf(p.Schema()), shards), p, l)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(drawn(t, want), drawn(t, got)) {
				t.Errorf("%s, %d shards: the records differ from those of a fit in memory", name, shards)
			}
			if !reflect.DeepEqual(one.Entries(), l.Entries()) {
				t.Errorf("%s, %d shards: the ledger has %v, want %v", name, shards, l.Entries(),
					one.Entries())
			}
		}
	}
}

// bundleOf returns the number of a shard's bundle, 0 … n-1.
func bundleOf(s beam.Shard) int {
	var i int
	_, _ = fmt.Sscanf(s.Name, "shard %d", &i)
	return i % bundles
}

var bundles int

// TestBundlesAreTheSameBits: a release of 34 shards has the same bits in 1, 3 and 17 separate
// bundles.
func TestBundlesAreTheSameBits(t *testing.T) {
	plan := merfPlan(t)
	want, err := plan.Embed(seeded(t), ledger.New(budget), some(tableSchema, 0, people))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundles = range []int{1, 3, 17} {
		undo := beam.Instead(func(s sdk.Scope, set beam.Settings, pass,
			list sdk.PCollection) sdk.PCollection {
			var sums []sdk.PCollection
			for _, part := range sdk.Partition(s, bundles, bundleOf, list) {
				sums = append(sums, beam.Sum(s, set, pass, sdk.Reshuffle(s, part)))
			}
			return sdk.Flatten(s, sums...)
		})
		got, err := beam.Embed(seeded(t), job(t, "table", 34), plan, ledger.New(budget))
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want.Sum(0), got.Sum(0)) ||
			!reflect.DeepEqual(want.Counts(), got.Counts()) {
			t.Errorf("%d bundles: the release differs from that in memory", bundles)
		}
	}
}

// TestReleasesAreTheSameBits: embeddings, marginals, clusters and drafts have the same bits as in
// memory.
func TestReleasesAreTheSameBits(t *testing.T) {
	data := some(tableSchema, 0, people)
	plan := merfPlan(t)
	e, err := plan.Embed(seeded(t), ledger.New(budget), data)
	if err != nil {
		t.Fatal(err)
	}
	drafts := must(draft.Config{Candidates: tableSchema, Budget: budget}.Plan())
	d, err := draft.Fit(seeded(t), drafts, data, ledger.New(budget))
	if err != nil {
		t.Fatal(err)
	}
	clusters := kmeans.Config{K: 3, Iterations: 3, NoiseMultiplier: 20}
	waves := must(rff.RBF{Dim: 40, Bandwidth: 2}.New(tableSchema.Dim(), 9))
	raw, err := kmeans.Fit(seeded(t), clusters, kmeans.Raw(tableSchema), data,
		ledger.New(budget), kmeans.WithSeed(2))
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := kmeans.Fit(seeded(t), clusters, waves, data, ledger.New(budget),
		kmeans.WithSeed(2))
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{1, 3, 17} {
		j := job(t, "table", shards)
		l := func() *ledger.Ledger { return ledger.New(budget) }
		e2, err1 := beam.Embed(seeded(t), j, plan, l())
		d2, err2 := beam.Draft(seeded(t), j, drafts, l())
		raw2, err3 := beam.KMeans(seeded(t), j, clusters, nil, tableSchema, l(), kmeans.WithSeed(2))
		mapped2, err4 := beam.KMeans(seeded(t), j, clusters, waves, tableSchema, l(),
			kmeans.WithSeed(2))
		m, err5 := beam.Marginals(seeded(t), j, tableSchema, budget, 1, l())
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.Sum(0), e2.Sum(0)) || !reflect.DeepEqual(e.Counts(), e2.Counts()) {
			t.Errorf("%d shards: the embedding differs from that in memory", shards)
		}
		if !reflect.DeepEqual(d.Columns, d2.Columns) {
			t.Errorf("%d shards: the draft differs from that in memory", shards)
		}
		if !reflect.DeepEqual(raw, raw2) || !reflect.DeepEqual(mapped, mapped2) {
			t.Errorf("%d shards: the clusters differ from those in memory", shards)
		}
		if m.Features() == 0 || m.Guarantee().Epsilon > budget.Epsilon {
			t.Errorf("%d shards: got unexpected marginals %v", shards, m)
		}
	}
}

// again delivers a shard's sums several times.
func again(group int, sealed []byte, emit func(int, []byte)) {
	for range 3 {
		emit(group, sealed)
	}
}

// TestRepetitionsChangeNothing: the release is unchanged if each shard is computed twice and
// delivered three times.
func TestRepetitionsChangeNothing(t *testing.T) {
	plan := merfPlan(t)
	want, err := plan.Embed(seeded(t), ledger.New(budget), some(tableSchema, 0, people))
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{1, 3, 17} {
		j := job(t, "table", shards)
		before := opened.Load()
		undo := beam.Instead(func(s sdk.Scope, set beam.Settings, pass,
			list sdk.PCollection) sdk.PCollection {
			once := beam.Sum(s, set, pass, list)
			retried := beam.Sum(s, set, pass, list)
			return sdk.ParDo(s, again, sdk.Flatten(s, once, retried))
		})
		got, err := beam.Embed(seeded(t), j, plan, ledger.New(budget))
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if n := opened.Load() - before; n < int64(2*shards) {
			t.Errorf("%d shards were read %d times, so the test proves nothing", shards, n)
		}
		if !reflect.DeepEqual(want.Sum(0), got.Sum(0)) ||
			!reflect.DeepEqual(want.Counts(), got.Counts()) {
			t.Errorf("%d shards: the release differs from that in memory", shards)
		}
	}
}

// TestFailures: if a source fails half way through a shard, the attempt ends. A later attempt gives
// the same bits. If all attempts fail, no noise is drawn.
func TestFailures(t *testing.T) {
	plan := merfPlan(t)
	want, err := plan.Embed(seeded(t), ledger.New(budget), some(tableSchema, 0, people))
	if err != nil {
		t.Fatal(err)
	}
	defer fails.Store(0)
	for _, shards := range []int{1, 3, 17} {
		j := job(t, "table", shards)
		j.Attempts = 40 // more than the number of failures
		fails.Store(2)
		got, err := beam.Embed(seeded(t), j, plan, ledger.New(budget))
		if err != nil {
			t.Fatal(err)
		}
		if fails.Load() >= 0 {
			t.Error("no shard failed, so the test proves nothing")
		}
		if !reflect.DeepEqual(want.Sum(0), got.Sum(0)) ||
			!reflect.DeepEqual(want.Counts(), got.Counts()) {
			t.Errorf("%d shards: the release differs from that in memory", shards)
		}
	}
	j := job(t, "table", 3)
	fails.Store(1 << 20)
	l := ledger.New(budget)
	e, err := beam.Embed(t.Context(), j, plan, l)
	if err == nil || e != nil || !strings.Contains(err.Error(), errBroken.Error()) {
		t.Errorf("a source that always fails: got %v, want its error", err)
	}
	for _, line := range l.Entries() {
		if line.Spent > 0 {
			t.Errorf("noise was drawn: %+v", line)
		}
	}
}

// TestLostShards: a pipeline that loses the sums of a shard is an error, and no noise is drawn.
func TestLostShards(t *testing.T) {
	bundles = 3
	defer beam.Instead(func(s sdk.Scope, set beam.Settings, pass,
		list sdk.PCollection) sdk.PCollection {
		return beam.Sum(s, set, pass, sdk.Partition(s, bundles, bundleOf, list)[1])
	})()
	l := ledger.New(budget)
	_, err := beam.Embed(t.Context(), job(t, "table", 3), merfPlan(t), l)
	if err == nil || !strings.Contains(err.Error(), "1 shards, want all 3") {
		t.Errorf("sums of one shard of three: got the error %v", err)
	}
	for _, line := range l.Entries() {
		if line.Spent > 0 {
			t.Errorf("noise was drawn: %+v", line)
		}
	}
}

// twice emits a row twice.
func twice(r beam.Row, emit func(beam.Row)) {
	emit(r)
	emit(r)
}

// personOf returns the person of row i.
func personOf(i int) int { return i/7*3 + []int{0, 0, 0, 0, 1, 1, 2}[i%7] }

// rows returns a function that makes a PCollection of the rows of the table or of the sets, each
// row twice. Persons have four rows, two rows or one. Some rows do not say to which unit they
// belong.
func rows(sets bool, unit string) func(s sdk.Scope) sdk.PCollection {
	return func(s sdk.Scope) sdk.PCollection {
		var list []beam.Row
		for i := range people {
			r := beam.Row{ID: fmt.Sprintf("%06d", i), Person: fmt.Sprint("person ", personOf(i))}
			if sets {
				r.Items = items(i)
			} else {
				r.Values = values(i)
			}
			list = append(list, r)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		for i, blank := range []string{"", " "} { // rows that are dropped
			nobody := list[i]
			if nobody.ID = blank; unit == records.UnitUser {
				nobody.ID, nobody.Person = fmt.Sprint("nobody ", i), blank
			}
			list = append(list, nobody)
		}
		return sdk.ParDo(s, twice, sdk.CreateList(s, list))
	}
}

// TestRowsOfACollection: each row counts once, and all rows of a person count as one record. A row
// without a person, or without an ID, does not count.
func TestRowsOfACollection(t *testing.T) {
	first := must(records.NewFrameBuilder(tableSchema))
	var together [][]uint32
	for i := 0; i < people; {
		row := make([]any, 4)
		for k, v := range values(i) {
			if v != "" {
				row[k] = v
			}
		}
		if err := first.Append(row...); err != nil {
			t.Fatal(err)
		}
		var all []uint32
		for own := personOf(i); i < people && personOf(i) == own; i++ {
			all = append(all, items(i)...)
		}
		slices.Sort(all)
		together = append(together, records.CutSet(slices.Compact(all), setSchema.MaxItems()))
	}
	plans := passPlans(t)
	for _, c := range []struct {
		plan string
		unit string
		want records.Data
	}{
		{"merf", records.UnitRecord, some(tableSchema, 0, people)},
		{"merf", records.UnitUser, records.WithUnit(first.Frame(), records.UnitUser)},
		{"independent", records.UnitRecord, some(setSchema, 0, people)},
		{"independent", records.UnitUser, records.WithUnit(must(records.FromItems(setSchema, together)),
			records.UnitUser)},
	} {
		p := plans[c.plan]
		l := func() *ledger.Ledger {
			return ledger.New(budget, ledger.WithUnit(c.unit))
		}
		want, err := p.FitOn(seeded(t), l(), c.want)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range []int{1, 3, 17} {
			j := beam.Job{Rows: rows(p.Schema().Sparse(), c.unit), Key: mechanism.NewKey(),
				Parts: beam.Parts{Unit: c.unit, N: parts}, Folder: t.TempDir()}
			got, err := beam.Fit(seeded(t), j, p, l())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(drawn(t, want), drawn(t, got)) {
				t.Errorf("%s by %s, %d parts: the records differ from those in memory", c.plan, c.unit, parts)
			}
		}
	}
	j := beam.Job{Rows: rows(false, records.UnitRecord), Parts: beam.Parts{N: 3},
		Key: mechanism.NewKey(), Folder: t.TempDir()}
	var wrong *param.Error
	users := ledger.New(budget, ledger.WithUnit(records.UnitUser))
	if _, err := beam.Fit(seeded(t), j, plans["merf"], users); !errors.As(err, &wrong) {
		t.Errorf("rows on a ledger for users: got %v, want an error about the unit", err)
	}
}

// mixPlans returns plans of mixtures of Poisson samples: of all records, by class, around means,
// and under replace-one.
func mixPlans(t testing.TB) map[string]*mix.Plan {
	t.Helper()
	all := map[string]mix.Config{
		"plain": {Sampling: mix.Poisson{Nominal: people, Degree: 8}},
		"by class around means": {Sampling: mix.Poisson{Nominal: people, Degree: 8}, ByClass: true,
			Centers: mix.Centers{NoiseMultiplier: 3, ClipNorm: 0.7}},
		"replace one": {Sampling: mix.PoissonReplaceOne{Records: people, Degree: 8}},
	}
	plans := map[string]*mix.Plan{}
	for name, c := range all {
		c.Schema, c.Mixtures, c.ClipNorm, c.NoiseMultiplier = vectorSchema, 300, 1.2, 2
		c.Budget = accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: c.Sampling.Relation()}
		plans[name] = must(c.Plan())
	}
	return plans
}

// mixed returns the released rows of a generator of mix.
func mixed(g *synth.Generator) []any {
	x, y := g.Model().(*mix.Model).Rows().Matrices()
	return []any{x.Data, y.Data}
}

// TestMixIsTheSameBits makes mixtures from 1, 3 and 17 shards. Each shard fails, is computed twice
// and is delivered three times. The rows must have the same bits as in memory, and the ledger the
// same lines.
func TestMixIsTheSameBits(t *testing.T) {
	defer fails.Store(0)
	for name, p := range mixPlans(t) {
		one := ledger.New(p.Budget())
		want, err := p.FitOn(seeded(t), one, some(vectorSchema, 0, people))
		if err != nil {
			t.Fatal(err)
		}
		for _, shards := range []int{1, 3, 17} {
			if shards == 17 && name != "by class around means" {
				continue // to save time
			}
			j, l := job(t, "vectors", shards), ledger.New(p.Budget())
			j.Attempts = 40 // more than the number of failures
			fails.Store(2)
			before := opened.Load()
			undo := beam.Instead(func(s sdk.Scope, set beam.Settings, pass,
				list sdk.PCollection) sdk.PCollection {
				return sdk.ParDo(s, again, sdk.Flatten(s, beam.Sum(s, set, pass, list),
					beam.Sum(s, set, pass, list)))
			})
			got, err := beam.Mix(seeded(t), j, p, l)
			undo()
			if err != nil {
				t.Fatal(err)
			}
			if n := opened.Load() - before; n < int64(4*shards) || fails.Load() >= 0 {
				t.Errorf("%d shards were read %d times, or failures are left, so the test proves nothing",
					shards, n)
			}
			if !reflect.DeepEqual(mixed(want), mixed(got)) ||
				!reflect.DeepEqual(drawn(t, want), drawn(t, got)) {
				t.Errorf("%s, %d shards: the rows differ from those in memory", name, shards)
			}
			if !reflect.DeepEqual(one.Entries(), l.Entries()) {
				t.Errorf("%s, %d shards: the ledger has %v, want %v", name, shards, l.Entries(),
					one.Entries())
			}
		}
	}
}

// TestMixOfBundles: mixtures of 34 shards have the same bits in 1, 3 and 17 separate bundles.
func TestMixOfBundles(t *testing.T) {
	p := mixPlans(t)["by class around means"]
	want, err := p.FitOn(seeded(t), ledger.New(p.Budget()), some(vectorSchema, 0, people))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundles = range []int{1, 3, 17} {
		undo := beam.Instead(func(s sdk.Scope, set beam.Settings, pass,
			list sdk.PCollection) sdk.PCollection {
			var sums []sdk.PCollection
			for _, part := range sdk.Partition(s, bundles, bundleOf, list) {
				sums = append(sums, beam.Sum(s, set, pass, sdk.Reshuffle(s, part)))
			}
			return sdk.Flatten(s, sums...)
		})
		got, err := beam.Mix(seeded(t), job(t, "vectors", 34), p, ledger.New(p.Budget()))
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(mixed(want), mixed(got)) {
			t.Errorf("%d bundles: the rows differ from those in memory", bundles)
		}
	}
}

// TestMixFails: no noise is drawn if a source always fails, if a shard grows after it was counted,
// or if samples have a fixed size.
func TestMixFails(t *testing.T) {
	defer fails.Store(0)
	p := mixPlans(t)["plain"]
	var grown atomic.Int64
	beam.RegisterSource("growing", func(context.Context, string) iter.Seq2[records.Data, error] {
		return func(yield func(records.Data, error) bool) {
			yield(some(vectorSchema, 0, 10+int(grown.Add(1))), nil)
		}
	})
	subset := must(mix.Config{Schema: vectorSchema, Mixtures: 10, ClipNorm: 1, NoiseMultiplier: 2,
		Budget:   accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: accountant.ReplaceOne},
		Sampling: mix.WithoutReplacement{Records: people, Degree: 8}}.Plan())
	for name, try := range map[string]func() (*ledger.Ledger, error){
		"breaking": func() (*ledger.Ledger, error) {
			fails.Store(1 << 20)
			defer fails.Store(0)
			l := ledger.New(p.Budget())
			_, err := beam.Mix(t.Context(), job(t, "vectors", 3), p, l)
			return l, err
		},
		"growing": func() (*ledger.Ledger, error) {
			l := ledger.New(p.Budget())
			_, err := beam.Mix(t.Context(), job(t, "growing", 1), p, l)
			return l, err
		},
		"subset": func() (*ledger.Ledger, error) {
			l := ledger.New(subset.Budget())
			_, err := beam.Mix(t.Context(), job(t, "vectors", 3), subset, l)
			return l, err
		},
	} {
		paid, err := try()
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
		for _, line := range paid.Entries() {
			if line.Spent > 0 {
				t.Errorf("%s: noise was drawn: %+v", name, line)
			}
		}
	}
}

// TestSecretsTravelSealed: the secret of a pass decides which records a mixture includes. The pass
// in the pipeline's graph contains it only encrypted, and it cannot be opened with another pass.
func TestSecretsTravelSealed(t *testing.T) {
	k := mechanism.NewKey()
	beam.Hold(k)
	pass := synth.Pass{Purpose: mix.PurposeMixtures, State: []byte("public"),
		Secret: synth.Secret("who is where")}
	text := must(beam.SealPass(k, pass))
	if strings.Contains(string(text), "who is where") ||
		strings.Contains(string(text), "d2hvIGlzIHdoZXJl") { // in base 64
		t.Errorf("the secret is not encrypted: %s", text)
	}
	if got, err := beam.OpenPass(k.ID(), text); err != nil || !reflect.DeepEqual(got, pass) {
		t.Errorf("opening the pass gives %v, error %v; want the sealed pass", got, err)
	}
	other := strings.Replace(string(text), "cHVibGlj", "cHVibGlx", 1)
	if _, err := beam.OpenPass(k.ID(), []byte(other)); !errors.Is(err, mechanism.ErrSealed) {
		t.Errorf("opening the secret of another pass: got %v, want an error", err)
	}
}

// TestRowsThatAreNot: an empty PCollection is a valid data set. Sealed sums name the same parts for
// any rows.
func TestRowsThatAreNot(t *testing.T) {
	p := passPlans(t)["independent"]
	for _, n := range []int{0, 1} {
		j := beam.Job{Parts: beam.Parts{N: 5}, Key: mechanism.NewKey(), Folder: t.TempDir(),
			Rows: func(s sdk.Scope) sdk.PCollection {
				list := []beam.Row{{ID: "one", Items: items(1)}}
				return sdk.CreateList(s, list[:n])
			}}
		var named []string
		undo := beam.Sealed(func(sealed []byte) { named = append(named, shardsOf(t, sealed)) })
		_, err := beam.Fit(seeded(t), j, p, ledger.New(budget))
		undo()
		if err != nil {
			t.Errorf("a pipeline of %d rows: %v", n, err)
		}
		want := `["part 0 of 5","part 1 of 5","part 2 of 5","part 3 of 5","part 4 of 5"]`
		if !slices.Equal(named, []string{want}) {
			t.Errorf("%d rows: got the unencrypted names %v, want %s", n, named, want)
		}
	}
}

// shardsOf returns the unencrypted shard names of sealed sums.
func shardsOf(t *testing.T, sealed []byte) string {
	t.Helper()
	_, after, _ := strings.Cut(string(sealed), `"shards":`)
	names, _, ok := strings.Cut(after, `]`)
	if !ok {
		t.Fatal("the sealed sums have no unencrypted names")
	}
	return names + "]"
}

// TestDurableLedgers: a durable ledger gets the same lines as one in memory, and a complete
// checkpoint is not drawn again.
func TestDurableLedgers(t *testing.T) {
	plan, folder := merfPlan(t), t.TempDir()
	l := must(ledger.Dir(filepath.Join(folder, "ledgers")).Create(t.Context(), "table",
		ledger.Terms{Budget: budget}))
	kept := privgen.Checkpoint(filepath.Join(folder, "run.ckpt"))
	one, err := beam.MERF(t.Context(), job(t, "table", 3), plan, l, kept)
	if err != nil {
		t.Fatal(err)
	}
	lines, before := l.Entries(), opened.Load()
	two, err := beam.MERF(t.Context(), job(t, "table", 3), plan, l, kept)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(drawn(t, one), drawn(t, two)) || opened.Load() != before ||
		!reflect.DeepEqual(lines, l.Entries()) {
		t.Error("a complete run was carried out again")
	}
	if len(lines) == 0 || lines[0].Purpose != merf.PurposeEmbed {
		t.Errorf("the ledger has the unexpected lines %v", lines)
	}
}

// TestReplay: with the same noise, pipelines over neighbouring records differ only as the declared
// sensitivity allows.
func TestReplay(t *testing.T) {
	var now records.Data
	beam.RegisterSource("replayed", func(_ context.Context, location string) iter.Seq2[records.Data,
		error] {
		return func(yield func(records.Data, error) bool) {
			var part, of int
			if _, err := fmt.Sscan(location, &part, &of); err != nil {
				yield(nil, err)
				return
			}
			f, _ := records.AsFrame(now)
			var list []records.Data
			for i := part; i < f.Len(); i += of {
				list = append(list, f.Slice(i, i+1))
			}
			yield(records.Concat(tableSchema, list...))
		}
	})
	j := job(t, "replayed", 3)
	for i := range j.Shards {
		j.Shards[i].Location = fmt.Sprint(i, " 3")
	}
	plan := merfPlan(t)
	for _, pair := range privacytest.Neighbours(t, tableSchema, accountant.AddOrRemoveOne, 12, 3)[:4] {
		privacytest.Replay[records.Data]{Budget: budget, Data: pair.Data, Neighbour: pair.Neighbour,
			Seeds: 1, Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
				now = d
				g, err := beam.MERF(ctx, j, plan, l)
				if err != nil {
					return nil, err
				}
				return g.Model().Encode()
			}}.Check(t)
	}
}

// TestReplayOfMixtures does the same as TestReplay for a plan that samples records by position.
func TestReplayOfMixtures(t *testing.T) {
	var now records.Data
	beam.RegisterSource("replayed in order", func(_ context.Context,
		location string) iter.Seq2[records.Data, error] {
		return func(yield func(records.Data, error) bool) {
			part := must(strconv.Atoi(location))
			t := now.(*records.Table)
			yield(t.Slice(t.Len()*part/3, t.Len()*(part+1)/3), nil)
		}
	})
	j := job(t, "replayed in order", 3)
	for i := range j.Shards {
		j.Shards[i].Location = strconv.Itoa(i)
	}
	plan := mixPlans(t)["plain"]
	pairs := privacytest.Neighbours(t, vectorSchema, accountant.AddOrRemoveOne, 12, 3)
	for i := 0; i < len(pairs); i += len(pairs) / 3 {
		privacytest.Replay[records.Data]{Budget: plan.Budget(), Data: pairs[i].Data,
			Neighbour: pairs[i].Neighbour, Seeds: 1,
			Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
				now = d
				g, err := beam.Mix(ctx, j, plan, l, synth.On(device.CPUWith(1))) // a fixed order of calls
				if err != nil {
					return nil, err
				}
				return g.Model().Encode()
			}}.Check(t)
	}
}

// TestSample: the same seed and shards give the same files, with the requested number of rows in
// all.
func TestSample(t *testing.T) {
	g, err := merfPlan(t).Fit(t.Context(), some(tableSchema, 0, people))
	if err != nil {
		t.Fatal(err)
	}
	draw := func(seed uint64) (files []string, content []string, rows int) {
		d := beam.Drawing{Rows: 2503, Shards: 7, Seed: seed, Folder: t.TempDir()}
		files, err := beam.Sample(t.Context(), g, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parquet.OpenFrame(name, g.Schema())
			if err != nil {
				t.Fatal(err)
			}
			rows += f.Len()
			content = append(content, string(b))
		}
		return files, content, rows
	}
	files, one, rows := draw(1)
	_, again, _ := draw(1)
	_, other, _ := draw(2)
	if len(files) != 7 || rows != 2503 || !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("%d files of %d rows; equal for the same seed: %v, another seed: %v", len(files), rows,
			slices.Equal(one, again), slices.Equal(one, other))
	}
	if one[0] == one[1] {
		t.Error("two shards contain the same rows")
	}
}

// TestFilesAreOneDraw: identifiers differ in all files together, and rows that depend on each other
// need one file.
func TestFilesAreOneDraw(t *testing.T) {
	one := must(records.NewSchema(records.Identifier("id", records.Sequence(1)),
		records.Categorical("town", "a", "b"), records.Categorical("land", "x", "y")))
	var rows [][]any // so many that no noise hides a town
	for range 300 {
		rows = append(rows, []any{nil, "a", "x"}, []any{nil, "b", "y"}, []any{nil, "a", "y"})
	}
	for name, c := range map[string]struct {
		rules []records.Constraint
		good  bool
	}{
		"none":      {nil, true},
		"in a row":  {[]records.Constraint{records.Only("town", "a")}, true},
		"unique":    {[]records.Constraint{records.Unique("town", "land")}, false},
		"determine": {[]records.Constraint{records.Determines([]string{"town", "land"})}, false},
	} {
		s := one.WithConstraints(c.rules...)
		budget := accountant.Budget{Epsilon: 3, Delta: 1e-5}
		plan := must(tables.MST{Common: tables.Common{Schema: s, Budget: budget}}.Plan())
		g := must(plan.Fit(t.Context(), must(records.FromValues(s, rows...))))
		files, err := beam.Sample(t.Context(), g, beam.Drawing{Rows: 30, Shards: 3, Seed: 5,
			Folder: t.TempDir()})
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		seen := map[string]bool{}
		ids := must(records.NewSchema(records.Integer("id", 1, 30)))
		for _, file := range files {
			f := must(parquet.OpenFrame(file, ids))
			for i := range f.Len() {
				seen[f.Value(i, 0)] = true
			}
		}
		if c.good && len(seen) != 30 {
			t.Errorf("%s: %d different identifiers in 30 rows", name, len(seen))
		}
	}
}

// TestTooFewIdentifiersAreFoundFirst: workers do not begin a draw whose last rows would have no
// identifier.
func TestTooFewIdentifiersAreFoundFirst(t *testing.T) {
	s := must(records.NewSchema(records.Identifier("id", records.Pattern("#")),
		records.Categorical("town", "a", "b")))
	budget := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	plan := must(tables.MST{Common: tables.Common{Schema: s, Budget: budget}}.Plan())
	g := must(plan.Fit(t.Context(), must(records.FromValues(s, []any{nil, "a"}))))
	for rows, refused := range map[int64]bool{10: false, 11: true} {
		_, err := beam.Sample(t.Context(), g, beam.Drawing{Rows: rows, Folder: t.TempDir()})
		if first := new(param.Error); errors.As(err, &first) != refused || (err != nil) != refused {
			t.Errorf("%d rows with 10 identifiers: got error %v, want a *param.Error: %v", rows, err,
				refused)
		}
	}
}

// TestJobsThatMakeNoSense: invalid jobs are refused before anything is reserved.
func TestJobsThatMakeNoSense(t *testing.T) {
	parts := func(n int) func(*beam.Job) {
		return func(j *beam.Job) {
			j.Source, j.Shards, j.Rows = "", nil, rows(false, records.UnitRecord)
			j.Parts.N = n
		}
	}
	for name, change := range map[string]func(*beam.Job){
		"fewer groups":   func(j *beam.Job) { j.Groups = -1 },
		"fewer workers":  func(j *beam.Job) { j.Workers = -1 },
		"fewer attempts": func(j *beam.Job) { j.Attempts = -1 },
		"fewer parts":    parts(-1),
		"too many parts": parts(1<<20 + 1),
		"shards of rows": func(j *beam.Job) { j.Source, j.Rows = "", rows(false, records.UnitRecord) },
		"no key":         func(j *beam.Job) { j.Key = mechanism.Key{} },
		"no folder":      func(j *beam.Job) { j.Folder = "" },
		"no such store":  func(j *beam.Job) { j.Folder = "nosuch://bucket" },
		"unknown runner": func(j *beam.Job) { j.Runner = "dataflwo" },
		"the same again": func(j *beam.Job) { j.Runner = "dataflwo" },
		"no source":      func(j *beam.Job) { j.Source = "" },
		"unknown source": func(j *beam.Job) { j.Source = "elsewhere" },
		"no shards":      func(j *beam.Job) { j.Shards = nil },
		"no name":        func(j *beam.Job) { j.Shards[1].Name = "" },
		"one name twice": func(j *beam.Job) { j.Shards[1].Name = j.Shards[0].Name },
		"rows too":       func(j *beam.Job) { j.Rows = rows(false, records.UnitRecord) },
	} {
		j, l := job(t, "table", 2), ledger.New(budget)
		change(&j)
		var wrong *param.Error
		_, err := beam.MERF(t.Context(), j, merfPlan(t), l)
		if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
			t.Errorf("%s: got error %v, want a *param.Error; the ledger has %v", name, err, l.Entries())
		}
	}
}

// TestKeysDoNotTravel: neither the pipeline's graph nor the folder contains the key, and a process
// without the key cannot take part.
func TestKeysDoNotTravel(t *testing.T) {
	k := mechanism.NewKey()
	set := beam.Settings{Key: k.ID()}
	if text := fmt.Sprintf("%+v", set); strings.Contains(text, string(k.Secret())) {
		t.Error("the settings contain the key")
	}
	var wrong *param.Error
	beam.ProvideKeys(func(string) (mechanism.Key, error) { return mechanism.NewKey(), nil })
	defer beam.ProvideKeys(nil)
	if _, err := beam.KeyOf(k.ID()); !errors.As(err, &wrong) {
		t.Errorf("a provided key that is not the requested one: got %v, want an error", err)
	}
	beam.ProvideKeys(func(string) (mechanism.Key, error) { return k, nil })
	if got, err := beam.KeyOf(k.ID()); err != nil || got.ID() != k.ID() {
		t.Errorf("the requested key: got error %v", err)
	}
}
