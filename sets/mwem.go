package sets

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// MWEM is multiplicative weights with the exponential mechanism. The package documentation
// describes its domain and workload.
//
// Guarantee: Rounds exponential mechanisms and Rounds + 1 Laplace releases, all of the same ε. A
// counting query changes by at most 1 whether a record is added, removed or replaced, so the noise
// is the same under both relations. MaxItems defaults to 12.
//
// Source: Hardt, Ligett and McSherry, "A Simple and Practical Algorithm for Differentially Private
// Data Release", 2012, with repeated use of measurements, as in its section on optimisations.
type MWEM struct {
	Common
	Rounds  int // 0 means 50
	Domain  int // number of sets drawn if there are too many to list; 0 means 32,768
	Queries int // number of queries of the workload; 0 means 1,000
}

const (
	mwemMaxItems = 12
	mwemRounds   = 50
	mwemDomain   = 1 << 15
	mostDomain   = 1 << 22
	mwemQueries  = 1000
	mwemClasses  = 5
	mwemSweeps   = 10
	mostInDomain = 1 << 24 // sets of a domain times their items, which bounds a reader's memory
	listedDomain = 1 << 17 // a domain with at most this many sets has all of them
)

// Plan calibrates the noise and prices all stages.
//
// Errors: *param.Error, joined.
func (c MWEM) Plan() (synth.PassProgram, error) {
	k := c.validate()
	bounded := func(name string, value, most int) {
		k.OK(value >= 0 && value <= most, "sets.MWEM."+name, value,
			fmt.Sprintf("a positive number up to %d, or 0 for the default", most))
	}
	bounded("Rounds", c.Rounds, 1<<16)
	bounded("Domain", c.Domain, mostDomain)
	bounded("Queries", c.Queries, 1<<16)
	if err := k.Err(); err != nil {
		return synth.PassProgram{}, err
	}
	c.Common = c.chosen(mwemMaxItems)
	c.MaxItems = min(cmp.Or(c.MaxItems, mwemMaxItems), c.Schema.MaxItems())
	c.Rounds, c.Domain, c.Queries = cmp.Or(c.Rounds, mwemRounds), cmp.Or(c.Domain, mwemDomain),
		cmp.Or(c.Queries, mwemQueries)
	k.OK(mwem{c}.small(), "sets.MWEM.Domain", fmt.Sprintf("%d sets of up to %d items", c.Domain,
		c.MaxItems), fmt.Sprintf("a product of at most %d", mostInDomain))
	if err := k.Err(); err != nil {
		return synth.PassProgram{}, err
	}
	return newPlan(mwem{c})
}

type mwem struct{ MWEM }

func (m mwem) name() string   { return nameMWEM }
func (m mwem) title() string  { return "MWEM" }
func (m mwem) common() Common { return m.Common }
func (m mwem) config() any {
	return setJSON{MaxItems: m.MaxItems, Rounds: m.Rounds, Domain: m.Domain, Queries: m.Queries}
}

// stages returns stages that spend ε = 1/noise on every choice and on every measurement.
func (m mwem) stages(noise float64) []synth.Stage {
	return []synth.Stage{
		{Purpose: purposeChoices, Event: accountant.ExponentialMechanism{Epsilon: 1 / noise},
			Count: m.Rounds},
		{Purpose: purposeMeasures, Event: accountant.Laplace{Scale: noise}, Count: m.Rounds + 1},
	}
}

func (m mwem) fit(ctx context.Context, r *synth.Run, noise float64) (sampler, error) {
	w := m.workload()
	sums, err := r.Read(ctx, synth.Pass{Purpose: purposeChoices})
	if err != nil {
		return nil, err
	}
	s := rounds{truth: sums.Sums()[0], rows: sums.Sums()[1], near: make([]int64, w.count),
		noise: noise, choices: r.Allowance(purposeChoices), measures: r.Allowance(purposeMeasures)}
	if err := r.Restore(&answered{&s.released, w.count, m.Rounds}); err != nil {
		return nil, err
	}
	r.Keep(s.released.file)
	if s.released.Total == nil {
		if s.measures.Remaining() == 0 {
			return nil, fmt.Errorf("%s: %w", purposeMeasures, synth.ErrLost)
		}
		n, err := s.measure(s.rows)
		if err != nil {
			return nil, err
		}
		s.released.Total = &n
	}
	weights := newWeights(m.domain(), w, max(*s.released.Total, 1))
	for _, a := range s.released.Answers {
		weights.learn(a.Query, a.Value)
	}
	for s.choices.Remaining() > 0 && s.measures.Remaining() > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.round(weights); err != nil {
			return nil, err
		}
		r.Report(purposeChoices, m.Rounds-s.choices.Remaining(), m.Rounds)
	}
	return &domainWeights{mwem: m, weights: weights}, nil
}

// rounds holds the true answers, which are private; only choices and measurements are released.
type rounds struct {
	truth, rows       *mechanism.FixedSum
	near              []int64 // the weights' answers, rounded to integers
	noise             float64
	choices, measures *mechanism.Allowance
	released          measurements
}

// round chooses the query with the worst answer and measures it.
func (s *rounds) round(w *weights) error {
	for q := range s.near {
		s.near[q] = whole(w.answer(q))
	}
	grant, err := s.choices.Next()
	if err != nil {
		return err
	}
	q, err := grant.Farthest(s.truth, s.near)
	if err != nil {
		return err
	}
	value, err := s.measure(s.truth.Slice(q, q+1))
	if err != nil {
		return err
	}
	s.released.Answers = append(s.released.Answers, answer{q, value})
	w.learn(q, value)
	return nil
}

// measure returns one count with Laplace noise.
func (s *rounds) measure(count *mechanism.FixedSum) (float64, error) {
	grant, err := s.measures.Next()
	if err != nil {
		return 0, err
	}
	out := make([]float64, 1)
	err = grant.Laplace(1/s.noise, mechanism.Part{Sum: count, Std: s.noise, Out: out})
	return out[0], err
}

// measurements holds what MWEM has released: the number of records and the answers to the chosen
// queries.
type measurements struct {
	Total   *float64 `json:"total,omitempty"`
	Answers []answer `json:"-"` // in a section, since there may be too many for a header
}

type answer struct {
	Query int
	Value float64
}

const sectionAnswers = "answers" // for each answer: query and value

func (m *measurements) file() (*synth.File, error) {
	numbers := make([]float64, 0, 2*len(m.Answers))
	for _, a := range m.Answers {
		numbers = append(numbers, float64(a.Query), a.Value)
	}
	return synth.NewFile(m, synth.FloatsPart(sectionAnswers, &numbers, len(numbers)))
}

// answered is what was measured, with the numbers of queries and rounds in the plan.
type answered struct {
	*measurements
	queries, rounds int
}

// RestoreFrom reads the answers: at most one for each round.
func (m *answered) RestoreFrom(f *synth.File) error {
	if err := f.Decode(m.measurements); err != nil {
		return err
	}
	data, err := f.Section(sectionAnswers)
	if err != nil {
		return err
	}
	if len(data)/16 > m.rounds {
		return malformed(fmt.Sprintf("%d answers; the plan has %d rounds", len(data)/16, m.rounds))
	}
	numbers, err := synth.ReadFloats[float64](data, len(data)/16*2)
	for pair := range slices.Chunk(numbers, 2) {
		q := pair[0]
		if !(q >= 0 && q < float64(m.queries)) || q != math.Trunc(q) {
			return malformed("an answer to an unknown query")
		}
		m.Answers = append(m.Answers, answer{int(q), pair[1]})
	}
	return err
}

// whole rounds an answer to an integer. The rounding does not depend on the true count. If the
// count changes by 1, its distance from the answer therefore changes by at most 1.
func whole(answer float64) int64 { return int64(math.Round(min(max(answer, -1e15), 1e15))) }

// countGrid returns a grid that is fine compared with the noise, divides 1, and leaves room for
// counts of 2·10⁹ times the scale and of 2³⁹.
func countGrid(scale float64, persons bool) float64 {
	g := min(max(mechanism.GridFor(scale)*(1<<18), mechanism.FinestCounts), 1)
	if persons {
		g = min(g, records.ShareStep)
	}
	return g
}

func (m mwem) drawable(noise float64) bool {
	grid := m.grid(noise)
	return noise >= grid && noise <= 0x1p43*grid
}

func (m mwem) grid(noise float64) float64 {
	return countGrid(noise, m.Schema.RowsPerPerson() > 0)
}

func (m mwem) passes() []string { return []string{purposeChoices} }

func (m mwem) counter(p synth.Pass, noise float64) (*cutCounter, error) {
	if p.Purpose != purposeChoices || p.State != nil {
		return nil, noPass(m, p)
	}
	return m.workload().counter(m.MaxItems, m.grid(noise)), nil
}

// domain returns the sets of the domain, which are public: all possible sets, or a sample of them.
func (m mwem) domain() [][]uint32 {
	universe := m.Schema.Dim()
	if setsUpTo(universe, m.MaxItems) <= listedDomain {
		return listSets(universe, m.MaxItems)
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0x6d77656d))
	out := make([][]uint32, m.Domain)
	for i := range out {
		out[i] = drawSet(rng, universe, min(1+rng.IntN(m.MaxItems), universe))
	}
	return out
}

// small reports whether the domain takes little memory, whoever asks for it.
func (m mwem) small() bool {
	return setsUpTo(m.Schema.Dim(), m.MaxItems) <= listedDomain || m.MaxItems <= mostInDomain/m.Domain
}

// setsUpTo returns the number of subsets of at most k of n items, or listedDomain + 1 if there are
// more than listedDomain.
func setsUpTo(n, k int) int {
	total, choose := 1, 1
	for i := range min(k, n) {
		choose = choose * (n - i) / (i + 1)
		if total += choose; total > listedDomain {
			return listedDomain + 1
		}
	}
	return total
}

// listSets returns all subsets of at most k of n items.
func listSets(n, k int) [][]uint32 {
	out := [][]uint32{nil}
	for lo, size := 0, 0; size < k && lo < len(out); size++ {
		hi := len(out)
		for _, set := range out[lo:hi] {
			first := uint32(0)
			if len(set) > 0 {
				first = set[len(set)-1] + 1
			}
			for item := first; item < uint32(n); item++ {
				out = append(out, append(set[:len(set):len(set)], item))
			}
		}
		lo = hi
	}
	return out
}

// PlanFor implements [synth.Design].
func (c MWEM) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	c.Schema, c.Budget = s, b
	return synth.PlanOf(c.Plan())
}
