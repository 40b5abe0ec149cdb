package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Fidelity compares the distributions of synthetic and of real records: column by column, in pairs,
// in small groups and as a whole. Each number is reported together with the number for equally many
// held-out real records, which shows the effect of chance. The zero value is ready to use.
type Fidelity struct {
	Rows    int // records of each kind that are compared, drawn at random; 0 for 5000
	Bins    int // of equal width between a number's public bounds; 0 for 10
	Pairs   int // pairs of columns at most, drawn at random; 0 for 1000
	Way     int // columns in a group, at most 8; 0 for 3
	Groups  int // groups of columns at most, drawn at random; 0 for 500
	Kernels Gaussians
	Seed    uint64
}

// Compared is one measure of synthetic records against real ones, and the same measure of held-out
// real records.
type Compared struct {
	Synthetic float64 `json:"synthetic"`
	HeldOut   float64 `json:"held_out"`
}

// ColumnShape is the similarity of one column's distributions: 1 means identical.
type ColumnShape struct {
	Column  string `json:"column"`
	Measure string `json:"complement_of"` // "total variation" or "Kolmogorov–Smirnov"
	Compared
}

// Similarity is the outcome of a [Fidelity].
type Similarity struct {
	Rows    int           `json:"rows"`   // of each kind
	Shapes  Compared      `json:"shapes"` // mean over columns, 1 at best
	Columns []ColumnShape `json:"columns"`
	// Trends is the mean score of pairs of columns, 1 at best. The score of two columns of numbers
	// with correlations ρ and ρ′ is 1 − |ρ − ρ′|/2. The score of other pairs is 1 minus the total
	// variation distance of the joint levels, with numbers in bins.
	Trends Compared `json:"pair_trends"`
	Pairs  int      `json:"pairs"`
	// Variation is the mean total variation distance of the joint levels of groups of columns, with
	// numbers in bins; 0 at best.
	Variation Compared    `json:"total_variation"`
	Way       int         `json:"way"`
	Groups    int         `json:"groups"`
	Bins      int         `json:"bins"`
	MMD       Discrepancy `json:"mmd"`
}

func (f Fidelity) withDefaults() Fidelity {
	f.Rows, f.Bins = cmp.Or(f.Rows, 5000), cmp.Or(f.Bins, 10)
	f.Pairs, f.Way, f.Groups = cmp.Or(f.Pairs, 1000), cmp.Or(f.Way, 3),
		cmp.Or(f.Groups, 500)
	return f
}

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (f Fidelity) validate() error {
	err := judge.NotNegative("evaluate.Fidelity",
		judge.Number("Rows", f.Rows), judge.Number("Bins", f.Bins), judge.Number("Pairs", f.Pairs),
		judge.Number("Way", f.Way), judge.Number("Groups", f.Groups))
	if f.Bins > 1000 {
		err = errors.Join(err, param.New("evaluate.Fidelity.Bins", f.Bins, "at most 1000"))
	}
	if f.Way > 8 {
		err = errors.Join(err, param.New("evaluate.Fidelity.Way", f.Way, "at most 8"))
	}
	return errors.Join(err, f.Kernels.validate())
}

// Compare compares synthetic records, and held-out real ones, with real ones.
//
// Errors: *[param.Error] for invalid settings, for records of different schemas and for fewer than
// two of a kind. Guarantee: none; see the package.
func (f Fidelity) Compare(synthetic, real, held records.Data) (Similarity, error) {
	err := errors.Join(f.validate(), compare.Alike("evaluate.Fidelity", real, synthetic, held))
	if err != nil {
		return Similarity{}, err
	}
	f = f.withDefaults()
	f.Rows = min(f.Rows, synthetic.Len(), real.Len(), held.Len())
	if f.Rows < 2 {
		return Similarity{}, param.New("evaluate.Fidelity records", "too few",
			"at least two of each kind")
	}
	synthetic, real, held = compare.AtMost(synthetic, f.Rows, f.Seed),
		compare.AtMost(real, f.Rows, f.Seed), compare.AtMost(held, f.Rows, f.Seed)
	l := newLayout(real.Schema(), f.Bins)
	c := columnsOf{l.read(synthetic), l.read(real), l.read(held)}
	out := Similarity{Rows: f.Rows, Way: min(f.Way, len(c.real)), Bins: f.Bins}
	out.Shapes, out.Columns = c.shapes()
	out.Trends, out.Pairs = f.trends(c)
	out.Variation, out.Groups = f.variation(c, out.Way)
	out.MMD = f.Kernels.compare(synthetic, real, held)
	return out, nil
}

// columnsOf holds the columns of the three kinds of records.
type columnsOf struct{ synthetic, real, held []column }

func (c columnsOf) shapes() (mean Compared, all []ColumnShape) {
	for j, real := range c.real {
		s := ColumnShape{real.name, real.measure(),
			Compared{c.synthetic[j].shape(real), c.held[j].shape(real)}}
		all = append(all, s)
		mean.add(s.Compared, len(c.real))
	}
	return mean, all
}

// add adds a part of a mean over n.
func (b *Compared) add(o Compared, n int) {
	b.Synthetic += o.Synthetic / float64(n)
	b.HeldOut += o.HeldOut / float64(n)
}

// trends compares pairs of columns.
func (f Fidelity) trends(c columnsOf) (mean Compared, pairs int) {
	groups := someGroups(rand.New(rand.NewPCG(f.Seed, 0x70616972)), len(c.real), 2, f.Pairs)
	scores := make([]Compared, len(groups))
	compare.Each(len(groups), func(i int) {
		a, b := groups[i][0], groups[i][1]
		scores[i] = Compared{trend(c.synthetic, c.real, a, b), trend(c.held, c.real, a, b)}
	})
	for _, s := range scores {
		mean.add(s, len(groups))
	}
	return mean, len(groups)
}

func trend(fake, real []column, a, b int) float64 {
	if real[a].number && real[b].number {
		d := correlation(fake[a], fake[b]) - correlation(real[a], real[b])
		return 1 - max(d, -d)/2
	}
	return 1 - joint(fake, real, a, b)
}

// joint returns the total variation distance of the joint levels of some columns.
func joint(fake, real []column, group ...int) float64 {
	p, q := make([]column, len(group)), make([]column, len(group))
	for i, j := range group {
		p[i], q[i] = fake[j], real[j]
	}
	return totalVariation(histogram(len(p[0].codes), p...), histogram(len(q[0].codes), q...))
}

// variation compares groups of columns.
func (f Fidelity) variation(c columnsOf, way int) (mean Compared, count int) {
	groups := someGroups(rand.New(rand.NewPCG(f.Seed, 0x77617973)), len(c.real), way, f.Groups)
	scores := make([]Compared, len(groups))
	compare.Each(len(groups), func(i int) {
		scores[i] = Compared{joint(c.synthetic, c.real, groups[i]...),
			joint(c.held, c.real, groups[i]...)}
	})
	for _, s := range scores {
		mean.add(s, len(groups))
	}
	return mean, len(groups)
}

// someGroups lists all groups of k out of n columns if they are few enough, and otherwise draws the
// given number of distinct groups.
func someGroups(rng *rand.Rand, n, k, most int) [][]int {
	if k < 1 || k > n {
		return nil
	}
	if count := choose(n, k, 4*most); count <= 4*most {
		all := allGroups(n, k)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(most, len(all))]
	}
	seen, out := map[string]bool{}, make([][]int, 0, most)
	for len(out) < most {
		group := make([]int, 0, k)
		for _, r := range compare.Subset(rng, n, k) {
			group = append(group, int(r))
		}
		if key := fmt.Sprint(group); !seen[key] {
			seen[key] = true
			out = append(out, group)
		}
	}
	return out
}

// choose returns the number of groups of k out of n, or some number above enough if there are more.
func choose(n, k, enough int) int {
	count := 1
	for i := range min(k, n-k) {
		if count = count * (n - i) / (i + 1); count > enough*1000 {
			return count
		}
	}
	return count
}

// allGroups lists the groups in lexicographic order.
func allGroups(n, k int) [][]int {
	var out [][]int
	group := make([]int, k)
	for i := range group {
		group[i] = i
	}
	for {
		out = append(out, slices.Clone(group))
		i := k - 1
		for i >= 0 && group[i] == n-k+i {
			i--
		}
		if i < 0 {
			return out
		}
		group[i]++
		for j := i + 1; j < k; j++ {
			group[j] = group[j-1] + 1
		}
	}
}

// String prints the means, marked as not private.
func (s Similarity) String() string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"%s%d synthetic records | as many held-out real ones, against as many real ones (%s)\n",
		judge.Mark, s.Rows, judge.Caveat)
	line := func(m Compared, format string, args ...any) {
		fmt.Fprintf(&b, "%-44s %.4f | %.4f\n", fmt.Sprintf(format, args...), m.Synthetic, m.HeldOut)
	}
	line(s.Shapes, "column shapes, mean of %d (1 is best)", len(s.Columns))
	line(s.Trends, "pair trends, mean of %d (1 is best)", s.Pairs)
	line(s.Variation, "%d-way total variation, mean of %d (0 is best)", s.Way, s.Groups)
	fmt.Fprintf(&b, "%-44s %.3e | %.3e\n%s", "squared MMD, unbiased (0 is best)", s.MMD.Synthetic,
		s.MMD.HeldOut, s.MMD.Kernel)
	return b.String()
}

// MarshalJSON writes the result with its caveat.
func (s Similarity) MarshalJSON() ([]byte, error) {
	type plain Similarity
	return compare.JSON("similarity of distributions", plain(s))
}
