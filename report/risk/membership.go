package risk

import (
	"errors"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Membership guesses from synthetic records alone whether the generator was trained on a given real
// record. The zero value is ready to use.
type Membership struct {
	// Rows is the largest number of members, and of others, drawn at random; 0 for 2000. Four times as
	// many synthetic records are used.
	Rows int
	Seed uint64
}

// Attack is the result of one way of guessing.
type Attack struct {
	Name    string
	Members int
	Others  int
	AUC     float64             // ½ is a coin toss
	Curve   []classify.ROCPoint // a true positive is a member that is classified as one
	AtLow   float64             // true positive rate at a false positive rate of at most 1 %
	// Best is the accuracy at the best threshold, with members and others equally likely.
	Best float64
}

// Attack guesses the membership of members, and of equally many other real records. The generator
// was not trained on the others. One attack uses half of the others as a reference and does not
// guess their membership.
//
// Source: the closest distance is the black-box attack of Chen, Yu, Zhang and Fritz 2020,
// "GAN-Leaks". The relative density, here with exponential kernels, is from van Breugel, Sun, Qian
// and van der Schaar 2023, "Membership inference attacks against synthetic data through overfitting
// detection" (DOMIAS). Errors: *[param.Error] for records of different schemas, or fewer than four.
// Guarantee: none; see the package.
func (m Membership) Attack(synthetic, members, others records.Data) ([]Attack, error) {
	const path = "risk.Membership"
	if err := compare.Alike(path, members, synthetic, others); err != nil {
		return nil, err
	}
	if m.Rows < 0 {
		return nil, param.New(path+".Rows", m.Rows, "a number of records, or 0 for 2000")
	}
	if m.Rows == 0 {
		m.Rows = 2000
	}
	if min(synthetic.Len(), members.Len(), others.Len()) < 4 {
		return nil, param.New(path+" records", "too few", "at least four of each kind")
	}
	guessed, spare := halves(others.Len(), m.Seed)
	in := read(members, min(m.Rows, len(guessed)), m.Seed+1)
	out := read(judge.Selection{Of: others, Rows: guessed}, in.n, m.Seed+2)
	reference := read(judge.Selection{Of: others, Rows: spare}, m.Rows, m.Seed+3)
	fakes := read(synthetic, 4*m.Rows, m.Seed+4)

	nearIn, nearOut := in.closest(fakes), out.closest(fakes)
	near := append(slices.Clone(nearIn), nearOut...)
	width := max(median(near), 1e-3)
	relative := func(p points) []float64 {
		d, r := p.density(fakes, width), p.density(reference, width)
		for i := range d {
			d[i] -= r[i]
		}
		return d
	}
	a, first := attackOf("distance to the closest synthetic record", negative(nearIn),
		negative(nearOut))
	b, second := attackOf("density of synthetic records, relative to other real ones", relative(in),
		relative(out))
	return []Attack{a, b}, errors.Join(first, second)
}

func negative(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// attackOf measures how well scores distinguish members from others.
func attackOf(name string, in, out []float64) (Attack, error) {
	scores := append(slices.Clone(in), out...)
	member := make([]bool, len(scores))
	for i := range in {
		member[i] = true
	}
	a := Attack{Name: name, Members: len(in), Others: len(out)}
	ranking, first := classify.Rank(scores, member)
	curve, second := classify.ROCCurve(scores, member)
	a.AUC, a.Curve, a.Best = ranking.ROC, curve, 0.5
	for _, p := range curve {
		if p.FalsePositive <= 0.01 {
			a.AtLow = max(a.AtLow, p.TruePositive)
		}
		a.Best = max(a.Best, (1+p.TruePositive-p.FalsePositive)/2)
	}
	return a, errors.Join(first, second)
}
