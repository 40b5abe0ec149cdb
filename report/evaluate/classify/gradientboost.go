package classify

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// GradientBoosting trains regression trees one after the other, each on the gradient of the
// log-likelihood at the sum of the earlier trees. A stage has one tree for each class, or a single
// tree for two classes.
//
// Source: Friedman 2001, "Greedy function approximation: a gradient boosting
// machine", algorithms 5 and 6; Part < 1: Friedman 2002, "Stochastic gradient
// boosting".
type GradientBoosting struct {
	Stages int     // 0 for 100
	Depth  int     // depth of each tree; 0 for 3
	Rate   float64 // factor on each tree; 0 for 0.1
	Part   float64 // fraction of the records, drawn anew for each stage; 0 for all
	Seed   uint64
}

// Name returns "gradient boosting".
func (GradientBoosting) Name() string { return "gradient boosting" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m GradientBoosting) Validate() error {
	return judge.NotNegative("classify.GradientBoosting",
		judge.Number("Stages", m.Stages), judge.Number("Depth", m.Depth), judge.Number("Rate", m.Rate),
		judge.Fraction("Part", m.Part))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m GradientBoosting) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m GradientBoosting) Learn(x *judge.Design) (Scorer, error) {
	b, err := binsOf(x)
	if err != nil {
		return nil, err
	}
	m.Depth, m.Rate, m.Part = cmp.Or(m.Depth, 3), cmp.Or(m.Rate, 0.1),
		cmp.Or(m.Part, 1)
	out := &additive{classes: x.Classes, rate: m.Rate, start: startOf(x.Counts())}
	state := make([]float64, x.Rows()*len(out.start)) // logits, or log-odds, of all records
	for i := range x.Rows() {
		copy(state[i*len(out.start):], out.start)
	}
	rng := rand.New(rand.NewPCG(m.Seed, 0x626f6f73))
	for range cmp.Or(m.Stages, 100) {
		rows := m.draw(rng, x.Rows())
		out.stages = append(out.stages, m.stage(x, b, rows, state, len(out.start)))
	}
	return out, nil
}

// startOf returns the logarithms of the classes' shares, or for two classes the log-odds of the
// second.
func startOf(counts []float64) []float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	start := make([]float64, len(counts))
	for c, n := range counts {
		start[c] = math.Log(max(n/total, 1e-7))
	}
	if len(counts) == 2 {
		return []float64{start[1] - start[0]}
	}
	return start
}

// draw returns the rows of one stage, ascending.
func (m GradientBoosting) draw(rng *rand.Rand, n int) []int32 {
	want := max(int(m.Part*float64(n)), 1)
	if want >= n {
		return allRows(n)
	}
	return compare.Draw(rng, n, want)
}

// stage grows a tree for every output and updates the logits.
func (m GradientBoosting) stage(x *judge.Design, b *bins, rows []int32, state []float64,
	outputs int) []*tree {
	n := x.Rows()
	probabilities := make([]float64, len(state))
	copy(probabilities, state)
	for i := range n {
		p := probabilities[i*outputs : (i+1)*outputs]
		if outputs == 1 {
			p[0] = 1 / (1 + math.Exp(-p[0]))
		} else {
			judge.Softmax(p)
		}
	}
	stage := make([]*tree, outputs)
	compare.Each(outputs, func(c int) {
		residual := make([]float64, n)
		for i, l := range x.Labels {
			hit := 0.0
			if outputs == 1 && l == 1 || outputs > 1 && int(l) == c {
				hit = 1
			}
			residual[i] = hit - probabilities[i*outputs+c]
		}
		stage[c] = m.tree(x, b, append([]int32(nil), rows...), residual, outputs)
		find(stage[c:c+1], x.Batch, func(_, first int, leaves []int32) {
			for i, l := range leaves {
				state[(first+i)*outputs+c] += m.Rate * stage[c].values[l]
			}
		})
	})
	return stage
}

// tree fits the residuals and sets the value of every leaf by one Newton step.
func (m GradientBoosting) tree(x *judge.Design, b *bins, rows []int32, residual []float64,
	outputs int) *tree {
	g := grower{bins: b, targets: residual, width: 1, depth: m.Depth, leafOf: make([]int32, x.Rows())}
	t := g.grow(rows)
	top, bottom := make([]float64, t.leaves()), make([]float64, t.leaves())
	for _, r := range rows {
		a := math.Abs(residual[r])
		top[g.leafOf[r]] += residual[r]
		bottom[g.leafOf[r]] += a * (1 - a)
	}
	share := float64(max(outputs-1, 1)) / float64(outputs)
	for l := range t.values {
		t.values[l] = 0
		if bottom[l] > 1e-150 {
			t.values[l] = share * top[l] / bottom[l]
		}
	}
	return t
}

// additive is a sum of trees.
type additive struct {
	classes int
	rate    float64
	start   []float64
	stages  [][]*tree
}

// Scores returns logits.
func (m *additive) Scores(b device.Batch, dst []float64) {
	outputs := len(m.start)
	all, sums := slices.Concat(m.stages...), make([]float64, b.Rows*outputs)
	for i := range b.Rows {
		copy(sums[i*outputs:], m.start)
	}
	find(all, b, func(tree, first int, leaves []int32) {
		for i, l := range leaves {
			sums[(first+i)*outputs+tree%outputs] += m.rate * all[tree].values[l]
		}
	})
	if outputs == m.classes {
		copy(dst, sums)
		return
	}
	for i, sum := range sums {
		dst[2*i], dst[2*i+1] = -sum/2, sum/2
	}
}

func (m *additive) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	judge.SoftmaxRows(dst, m.classes)
}
