package privacytest_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// system is a whole Fit that an audit runs.
type system struct {
	name         string
	data, canary records.Data // without the canary and with it
	relation     accountant.Relation
	plan         planner
}

// planner plans a run for a budget. It returns the event of the run, and the run. The run returns
// every number that it releases.
type planner func(accountant.Budget) (accountant.Event, trained, error)

type trained func(records.Data) ([]float64, error)

// fitted returns a run that fits a plan on its own ledger and returns every number of the
// released model.
func fitted(p synth.Plan) trained {
	return func(d records.Data) ([]float64, error) {
		gen, err := p.Fit(context.Background(), d, synth.On(device.CPUWith(1)))
		if err != nil {
			return nil, err
		}
		f, err := gen.Model().Encode()
		if err != nil {
			return nil, err
		}
		var out []float64
		for _, s := range f.Sections {
			// of DPGM with marginals, and of ranks
			if strings.HasSuffix(s.Name, " target") || s.Name == "ranks.parts" {
				v, err := synth.ReadFloats[float64](s.Data, len(s.Data)/8)
				if err != nil {
					return nil, err
				}
				out = append(out, v...)
				continue
			}
			v, err := synth.ReadFloats[float32](s.Data, len(s.Data)/4)
			if err != nil {
				return nil, err
			}
			out = append(out, widened(v)...)
		}
		return out, nil
	}
}

// bill returns the event of everything that a plan releases.
func bill(p synth.Plan) accountant.Event {
	var all accountant.Composed
	for _, s := range p.Stages() {
		all.Events = append(all.Events, accountant.Repeated{Event: s.Event, Count: s.Count})
	}
	return all
}

// trainer plans a run for a budget.
func (s system) trainer(t testing.TB, epsilon float64) (accountant.Event,
	func(records.Data) []float64) {
	t.Helper()
	event, run, err :=
		s.plan(accountant.Budget{Epsilon: epsilon, Delta: auditDelta, Relation: s.relation})
	if err != nil {
		t.Fatal(err)
	}
	return event, func(d records.Data) []float64 {
		return must(run(d))(t)
	}
}

const (
	auditDelta = 1e-3
	// auditAlarm is the probability that an audit of sound code fails. Each audit of broken code
	// has enough trainings: the logarithm of its p-value lies at least nine standard deviations
	// below the logarithm of auditAlarm. This was measured over a dozen audits of each system with 200
	// trainings. The weakest system, clusters and marginals, has a p-value of 10^-24 with a standard
	// deviation of 10^±1.8. TestCanaryAuditOfWholeFits begins with 100 trainings and continues with
	// 300 and 1,000 where they do not suffice.
	auditAlarm = 1e-9
)

// pull returns the direction in which the canary moves the released numbers. This is the effect of
// the canary on a run with almost no noise. The auditor chose the canary and the data, so the
// auditor may use them.
func (s system) pull(t testing.TB) []float64 {
	t.Helper()
	_, run := s.trainer(t, 1e6)
	without, direction := run(s.data), run(s.canary)
	for i := range direction {
		direction[i] -= without[i]
	}
	return direction
}

// canaries is a claim about whole trainings: without the canary for false, and with it for true.
type canaries struct {
	privacytest.Claim[bool]
	event    accountant.Event
	relation accountant.Relation
	scores   map[bool][]float64 // of the trainings so far
}

// audit returns the claim of runs that spend the ε spent and claim the ε claimed. The score of a
// run is higher if the canary seems to have been present.
func (s system) audit(t testing.TB, spent, claimed float64, trainings int) canaries {
	t.Helper()
	direction := s.pull(t)
	event, run := s.trainer(t, spent)
	c := canaries{event: event, relation: s.relation, scores: map[bool][]float64{}}
	c.Claim = privacytest.Claim[bool]{D0: false, D1: true, Epsilon: claimed, Delta: auditDelta,
		FalseAlarm: auditAlarm, Samples: trainings, Run: func(planted bool) []float64 {
			data := s.data
			if planted {
				data = s.canary
			}
			along := 0.0
			for i, v := range run(data) {
				along += direction[i] * v
			}
			c.scores[planted] = append(c.scores[planted], along)
			return []float64{along}
		}}
	return c
}

// rates describes the rates of true positives among the trainings so far, of an adversary who says
// that the canary was present if the score exceeds a threshold, next to those that the accountant
// allows.
func (c canaries) rates(t testing.TB) string {
	t.Helper()
	out, in := c.scores[false], c.scores[true]
	slices.Sort(out)
	falsePositives := []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9}
	bounds := must(accountant.TradeOff(c.event, c.relation, falsePositives...))(t)
	text := ""
	for i, f := range falsePositives {
		threshold, above := out[len(out)-1-int(f*float64(len(out)))], 0
		for _, v := range in {
			if v > threshold {
				above++
			}
		}
		text += fmt.Sprintf("\n%5.2f false positives: %.3f true ones of %.3f", f,
			float64(above)/float64(len(in)), bounds[i].TruePositive)
	}
	return text
}

// filled returns rows of equal values.
func filled(t testing.TB, s records.Schema, values ...float32) records.Data {
	t.Helper()
	var flat []float32
	for _, v := range values {
		for range s.Dim() {
			flat = append(flat, v)
		}
	}
	return must(records.FromFlat(s, flat))(t)
}

// networks plans DPGM with one network.
func networks(s records.Schema, a models.DensityArchitecture) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		return mixture(dpgm.Config{
			Schema: s, Budget: b, Cluster: kmeans.Config{K: 1}, Model: a, Seed: 1,
			Train: sgd.Config{ClipNorm: 0.1, SamplingProbability: 1, Steps: 3, Optimizer: sgd.SGD(0.1),
				NominalBatch: 1},
		})
	}
}

func mixture(c dpgm.Config) (accountant.Event, trained, error) {
	plan, err := c.Plan()
	if err != nil {
		return nil, nil, err
	}
	return bill(plan), fitted(plan), nil
}

// classifier returns a user-defined loop over package sgd. The loop trains multinomial logistic
// regression. Its first gradient is known, so its audit is sharp.
func classifier(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		cfg := sgd.Config{ClipNorm: 0.05, SamplingProbability: 1, Steps: 3, Optimizer: sgd.SGD(0.2),
			NominalBatch: 1}
		cfg, err := cfg.Calibrate(b)
		if err != nil {
			return nil, nil, err
		}
		return accountant.Repeated{Event: cfg.Event(b.Relation), Count: cfg.Steps},
			func(d records.Data) ([]float64, error) {
				net, err := models.MLP{}.Classifier(device.CPUWith(1), s.Dim(), s.Classes(), 1)
				if err != nil {
					return nil, err
				}
				trainer, err := sgd.New(cfg, net, ledger.New(b), sgd.WithBackend(device.CPUWith(1)))
				if err != nil {
					return nil, err
				}
				for _, err := range trainer.Steps(context.Background(), d) {
					if err != nil {
						return nil, err
					}
				}
				return widened(net.Params().Flat.Data), nil
			}, nil
	}
}

func widened(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// centres plans k-means, of which it returns the released counts and sums.
func centres(s records.Schema, clip float64) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		cfg, err := kmeans.Config{K: 2, Iterations: 1, ClipNorm: clip, Shrink: kmeans.NoShrink,
			Init: kmeans.Init{Method: kmeans.Given, Centers: [][]float32{
				slices.Repeat([]float32{0.1}, s.Dim()), slices.Repeat([]float32{-0.1}, s.Dim()),
			}}}.Calibrate(b)
		if err != nil {
			return nil, nil, err
		}
		return cfg.Event(b.Relation), func(d records.Data) ([]float64, error) {
			var h kmeans.History
			_, err := kmeans.Fit(context.Background(), cfg, kmeans.Raw(s), d, ledger.New(b),
				kmeans.WithBackend(device.CPUWith(1)), kmeans.WithSeed(3), kmeans.WithHistory(&h))
			if err != nil {
				return nil, err
			}
			return slices.Concat(h.Iterations[0].Counts, h.Iterations[0].Sums), nil
		}, nil
	}
}

// embeddings plans DP-MERF's release.
func embeddings(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		plan, err := merf.Config{Schema: s, Budget: b, Features: 8}.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), func(d records.Data) ([]float64, error) {
			e, err := plan.Embed(context.Background(), ledger.New(b), d,
				synth.On(device.CPUWith(1)))
			if err != nil {
				return nil, err
			}
			out := e.Counts()
			for c := range e.Classes() {
				out = append(out, e.Sum(c)...)
			}
			return out, nil
		}, nil
	}
}

// mixtures plans DPMix with every record in every mixture.
func mixtures(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		c := mix.Config{Schema: s, Budget: b, Sampling: mix.Poisson{Nominal: 1, Degree: 1}, Mixtures: 4,
			ClipNorm: 1}
		if b.Relation == accountant.ReplaceOne {
			c.Sampling = mix.PoissonReplaceOne{Records: 1, Degree: 1}
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}

// adversaries plans dp-GAN; the observer sees its generator.
func adversaries(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		c := gan.Config{Schema: s, Budget: b, Latent: 1, Generator: models.MLP{},
			Critic: models.MLP{Hidden: []int{8}, Activation: models.LeakyReLU},
			Train: sgd.Config{ClipNorm: 0.1, SamplingProbability: 1, Steps: 4, Optimizer: sgd.SGD(1),
				NominalBatch: 1},
			CriticSteps: 1, GeneratorBatch: 64, GeneratorOptimizer: sgd.SGD(0.1), Seed: 1}
		plan, err := c.Plan()
		if err != nil {
			return nil, nil, err
		}
		return bill(plan), fitted(plan), nil
	}
}

// marginals plans DPGM with two clusters and the frequencies of coordinates.
func marginals(s records.Schema) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		return mixture(dpgm.Config{
			Schema: s, Budget: b, Cluster: kmeans.Config{K: 2, Iterations: 1, Share: 0.2},
			Marginals: &dpgm.Marginals{Share: 0.6},
			Model:     models.VAE{Hidden: []int{3}, Latent: 1}, Seed: 1,
			Train: sgd.Config{ClipNorm: 0.1, SamplingProbability: 1, Steps: 1, Optimizer: sgd.SGD(0.1)},
		})
	}
}

// labelled returns rows with the given labels. All values of the rows are 1.
func labelled(t testing.TB, s records.Schema, labels ...int32) records.Data {
	t.Helper()
	flat := make([]float32, s.Dim()*len(labels))
	for i := range flat {
		flat[i] = 1
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// systems returns the library's systems.
func systems(t testing.TB) []system {
	const add, replace = accountant.AddOrRemoveOne, accountant.ReplaceOne
	s := records.Interval(6, -1, 1)
	c := s.WithLabels("a", "b")
	bits := records.Binary(4)
	vae := networks(s, models.VAE{Hidden: []int{3}, Latent: 1})
	colour := records.RGBImage(2, 2).WithLabels("a", "b")
	list := []system{
		{"DPGM", filled(t, s), filled(t, s, 1), add, vae},
		{"DPGM, replace-one", filled(t, s, -1), filled(t, s, 1), replace, vae},
		{"classifier", labelled(t, c), labelled(t, c, 0), add, classifier(c)},
		{"classifier, replace-one", labelled(t, c, 1), labelled(t, c, 0), replace, classifier(c)},
		{"k-means", filled(t, s), filled(t, s, 1), add, centres(s, 2)},
		{"DP-MERF", labelled(t, c), labelled(t, c, 0), add, embeddings(c)},
		{"DP-MERF, replace-one", labelled(t, c, 1), labelled(t, c, 0), replace, embeddings(c)},
		{"DPMix", labelled(t, c), labelled(t, c, 0), add, mixtures(c)},
		{"DPMix, replace-one", filled(t, s, -1), filled(t, s, 1), replace, mixtures(s)},
		{"dp-GAN", filled(t, s), filled(t, s, 1), add, adversaries(s)},
		{"pool of two DP-MERFs", filled(t, s), filled(t, s, 1), add, pooled(s)},
		{"pool of two DP-MERFs, replace-one", filled(t, s, -1), filled(t, s, 1), replace, pooled(s)},
		{"DPGM, clusters and marginals", filled(t, bits), filled(t, bits, 1), add, marginals(bits)},
		{"k-means, replace-one", filled(t, s, -1), filled(t, s, 1), replace, centres(s, 2)},
	}
	if auditing() { // these take long, and their parts are audited above
		table := tableOf(t)
		list = append(list, system{"several tables", customers(t, 2), customers(t, 2, 3), add, onTables},
			system{"chain of colour images", labelled(t, colour),
				labelled(t, colour, 0), add, colourChains(colour)},
			system{"chain of colour images, replace-one", labelled(t, colour, 1),
				labelled(t, colour, 0), replace, colourChains(colour)},
			system{"MERF on ranks", rowsOf(t, table), rowsOf(t, table, 0.1), add, onRanks(table)},
			system{"MERF on ranks, replace-one", rowsOf(t, table, 0.9),
				rowsOf(t, table, 0.1), replace, onRanks(table)})
	}
	return list
}

// shop describes customers with at most three orders each, in order.
func shop() records.Tables {
	flag := func(name string) records.Schema {
		s, _ := records.NewSchema(records.Flag(name, "no", "yes"))
		return s
	}
	return records.Tables{Name: "customers", Key: "id", Schema: flag("new"),
		Children: []records.Tables{{Name: "orders", Parents: []string{"id"}, Most: 3, Ordered: true,
			Schema: flag("paid")}}}
}

// customers returns n customers without orders, and one with each of the given numbers of orders.
func customers(t testing.TB, n int, orders ...int) *records.Linked {
	t.Helper()
	var roots, rows [][]any
	var keys, of []string
	for i, number := range append(make([]int, n), orders...) {
		keys = append(keys, strconv.Itoa(i))
		roots = append(roots, []any{number > 0})
		for range number {
			rows, of = append(rows, []any{true}), append(of, keys[i])
		}
	}
	tables := shop()
	first := must(records.FromValues(tables.Schema, roots...))(t)
	below := must(records.FromValues(tables.Children[0].Schema, rows...))(t)
	l := must(records.Link(tables, records.Keyed{Rows: first, Keys: keys},
		records.Keyed{Rows: below, Parents: [][]string{of}}))(t)
	return l
}

// onTables plans a fit on customers with their orders. It returns what they have in common in rows
// that are drawn from the released models.
func onTables(b accountant.Budget) (accountant.Event, trained, error) {
	aim := tables.AIM{Common: tables.Common{Nominal: 2}, Rounds: 2}
	p, err := compose.Linked{Tables: shop(), Of: aim, Each: aim}.PlanFor(shop().Full(), b)
	if err != nil {
		return nil, nil, err
	}
	return bill(p), func(d records.Data) ([]float64, error) {
		gen, err := p.Fit(context.Background(), d, synth.On(device.CPUWith(1)))
		if err != nil {
			return nil, err
		}
		out := make([]float64, 4)
		const n = 1000
		for l, err := range compose.DrawTables(context.Background(), gen, n, 1) {
			if err != nil {
				return nil, err
			}
			roots, _ := l.Table(0)
			rows, _ := l.Table(1)
			out[1] += float64(rows.Len()) / (3 * n)
			for i := range roots.Len() {
				out[0] += float64(roots.Level(i, 0)) / n
			}
			for i := range rows.Len() {
				out[2] += float64(rows.Level(i, 0)) / (3 * n)
				out[3] += float64(1-rows.Level(i, 0)) / (3 * n)
			}
		}
		return out, nil
	}, nil
}

func tableOf(t testing.TB) records.Schema {
	t.Helper()
	return must(records.NewSchema(records.Numeric("x", 0, 1)))(t)
}

func rowsOf(t testing.TB, s records.Schema, numbers ...float64) records.Data {
	t.Helper()
	return must(records.FromColumns(s, records.Values{Numbers: append([]float64{}, numbers...)}))(t)
}

func auditing() bool {
	a := flag.Lookup("audit")
	return a != nil && a.Value.String() == "true"
}

// TestCanaryAuditOfWholeFits trains whole systems with and without a canary. It proves that an
// audit detects a run with a claim below its cost. With -audit it also audits runs that claim their
// cost, and logs the result next to the rates that the accountant allows. At auditAlarm 3,000
// trainings show up to ε = 5.1 if every score tells, so they can refute the claim of 2. Fifty
// trainings show 0.3 and could refute nothing.
func TestCanaryAuditOfWholeFits(t *testing.T) {
	if !auditing() {
		t.Skip("thousands of trainings; without -audit, replays compare the same systems exactly")
	}
	for _, s := range systems(t) {
		t.Run(s.name, func(t *testing.T) {
			sound := s.audit(t, 2, 2, 3000)
			shown := sound.LowerBound(t)
			t.Log(shown, sound.rates(t))
			if shown.Epsilon > 2 {
				t.Errorf("claimed ε = 2, but %v", shown)
			}
			// 100 trainings refute most systems. More trainings decide the few runs in which they fail.
			broken := func(trainings int) bool { return s.audit(t, 1000, 0.5, trainings).Refuted(t) }
			if !broken(100) && !broken(300) && !broken(1000) {
				t.Error("a run that claims ε = 0.5 and spends 1000 is not refuted")
			}
		})
	}
}

// lying is an architecture with a mistake in SquaredNorms: its networks report norms a hundred
// times too small. So no gradient is clipped. The networks compute their clipped sums themselves:
// for other networks package sgd measures the norms.
type lying struct{ models.VAE }

func (l lying) New(be device.Backend, v models.Visible, seed uint64) (models.Density, error) {
	g, err := l.VAE.New(be, v, seed)
	return lyingNetwork{g}, err
}

type lyingNetwork struct{ models.Density }

func (n lyingNetwork) Gradients(b device.Batch) models.Gradients {
	return lyingGradients{n.Density.Gradients(b).(models.FixedGradients)}
}

type lyingGradients struct{ models.FixedGradients }

func (g lyingGradients) SquaredNorms(dst []float64) {
	g.FixedGradients.SquaredNorms(dst)
	for i := range dst {
		dst[i] /= 1e4
	}
}

// TestCanaryAuditFindsALyingNetwork: a fault inside a user-defined network shows in a whole Fit.
func TestCanaryAuditFindsALyingNetwork(t *testing.T) {
	s := records.Interval(6, -1, 1)
	liars := networks(s, lying{models.VAE{Hidden: []int{3}, Latent: 1}})
	broken := system{"lying", filled(t, s), filled(t, s, 1), accountant.AddOrRemoveOne, liars}
	if a := broken.audit(t, 1, 1, 300); !a.Refuted(t) {
		t.Errorf("the fault is not found: %v", a.LowerBound(t))
	}
}

// TestOneRunAuditOfWholeFits plants many canaries in different directions and trains once.
func TestOneRunAuditOfWholeFits(t *testing.T) {
	many, some := 300, 300
	if auditing() {
		many, some = 20000, 3000
	}
	flat := records.Interval(some, 0, 1)
	one := records.Interval(1, 0, 1).WithLabels(numbered(many)...)
	for _, c := range []struct {
		name     string
		canaries int
		system   system
		plant    func(planted []bool) records.Data
		scores   func(released []float64) []float64
	}{
		// Each record has a different class and moves that class's bias. The biases are the last
		// parameters.
		{"classifier", many, system{data: filled(t, one), plan: classifier(one)},
			func(planted []bool) records.Data { return distinct(t, one, planted) },
			func(released []float64) []float64 { return released[len(released)-many:] }},
		// Each record is the only one of its class and moves the class's count and sums.
		{"DP-MERF", many, system{data: filled(t, one), plan: embeddings(one)},
			func(planted []bool) records.Data { return distinct(t, one, planted) },
			func(released []float64) []float64 { return classSums(released, many) }},
		// Each record has another item, whose count it moves.
		{"counts of items", 5 * many, system{data: setsOf(t, 5*many, nil), plan: itemCounts(5 * many)},
			func(planted []bool) records.Data { return setsOf(t, 5*many, planted) },
			func(released []float64) []float64 { return released[len(released)-5*many:] }},
		// Each record moves a different coordinate of the sums.
		{"k-means", some, system{data: filled(t, flat), plan: centres(flat, 1)},
			func(planted []bool) records.Data { return distinct(t, flat, planted) },
			func(released []float64) []float64 {
				scores := make([]float64, some)
				for i, v := range released[len(released)-2*some:] {
					scores[i%some] += v
				}
				return scores
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			audit := func(spent float64, guesses int) privacytest.Audit {
				_, run, err := c.system.plan(accountant.Budget{Epsilon: spent, Delta: oneRunDelta})
				if err != nil {
					t.Fatal(err)
				}
				event, _, err := c.system.plan(accountant.Budget{Epsilon: oneRunClaim, Delta: oneRunDelta})
				if err != nil {
					t.Fatal(err)
				}
				return privacytest.OneRun{Canaries: c.canaries, Guesses: guesses, Delta: oneRunDelta,
					FalseAlarm: oneRunAlarm, Event: event,
					Train: func(planted []bool) ([]float64, error) {
						released, err := run(c.plant(planted))
						if err != nil {
							return nil, err
						}
						return c.scores(released), nil
					},
				}.Audit(t)
			}
			honest, wrong := audit(oneRunClaim, c.canaries/20), audit(500, c.canaries/2)
			t.Logf("spent %v: %v; spent 500: %v", oneRunClaim, honest, wrong)
			if honest.Epsilon > oneRunClaim || honest.Refuted {
				t.Errorf("claimed ε = %v, but %+v", oneRunClaim, honest)
			}
			if wrong.Epsilon < 0.7 { // five wrong guesses among ninety; even one is very unlikely
				t.Errorf("a run that spends ε = 500 shows only %v", wrong)
			}
			if auditing() && c.canaries >= many && !wrong.Refuted {
				t.Errorf("the claimed event is not refuted by a run that spends ε = 500: %v", wrong)
			}
		})
	}
}

// setsOf returns a set of one item, its own, for every planted canary.
func setsOf(t testing.TB, items int, planted []bool) records.Data {
	t.Helper()
	var own [][]uint32
	for i, in := range planted {
		if in {
			own = append(own, []uint32{uint32(i)})
		}
	}
	return must(records.FromItems(records.Sets(items, 1), own))(t)
}

// itemCounts plans a release of the number of records with each item.
func itemCounts(items int) planner {
	return func(b accountant.Budget) (accountant.Event, trained, error) {
		p, err := synth.PlanOf(sets.Independent{Common: sets.Common{Schema: records.Sets(items, 1),
			Budget: b, Nominal: items / 2}}.Plan())
		if err != nil {
			return nil, nil, err
		}
		return bill(p), func(d records.Data) ([]float64, error) {
			gen, err := p.Fit(context.Background(), d)
			if err != nil {
				return nil, err
			}
			f, err := gen.Model().Encode()
			if err != nil {
				return nil, err
			}
			numbers := f.Sections[0].Data
			return synth.ReadFloats[float64](numbers, len(numbers)/8)
		}, nil
	}
}

// numbered returns the names of n classes.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// classSums returns the sum of each class's count and of its features, each divided by the variance
// of its noise. The features of all records are those of zero: one for every cosine, which are the
// first half. Most values of the other half are noise alone.
func classSums(released []float64, classes int) []float64 {
	width := len(released)/classes - 1
	variance := func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x * x
		}
		return sum / float64(len(v))
	}
	var sines []float64
	for c := range classes {
		sums := released[classes+c*width:][:width]
		sines = append(sines, sums[width/2:]...)
	}
	scores := make([]float64, classes)
	for c := range scores {
		for _, x := range released[classes+c*width:][:width/2] {
			scores[c] += x * math.Sqrt(2/float64(width)) / variance(sines)
		}
		scores[c] += released[c]
	}
	return scores
}

const (
	oneRunDelta = 1e-5
	oneRunAlarm = 1e-3
	oneRunClaim = 8
)

// distinct returns a record for every planted canary. Each record differs from all others in its
// coordinate or, if there is only one coordinate, in its label.
func distinct(t testing.TB, s records.Schema, planted []bool) records.Data {
	t.Helper()
	var flat []float32
	var labels []int32
	for i, in := range planted {
		if !in {
			continue
		}
		row := make([]float32, s.Dim())
		if s.Dim() > 1 {
			row[i] = 1
		} else {
			labels = append(labels, int32(i))
		}
		flat = append(flat, row...)
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}
