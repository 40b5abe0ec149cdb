package privacytest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// The loops below are typical user code. Each fault was found in a paper, in a library or in a
// student's homework. The fault "" means the correct version.

type rows = [][]float64

const (
	toyDim     = 3
	toySteps   = 4
	toyRate    = 0.5
	toyClip    = 1.0
	toyNoise   = 2.0
	toyNominal = 4.0
)

func toyBudget(r accountant.Relation) accountant.Budget {
	return accountant.Budget{Epsilon: 50, Delta: 1e-5, Relation: r}
}

// toy is DP-SGD towards the mean of the rows.
type toy struct {
	fault string
	run   *mechanism.Run
	data  rows

	params  []float64
	private []float64 // state that depends on the data in some of the faulty versions
	log     []string
}

func toyRun(fault string) func(context.Context, *ledger.Ledger, rows) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data rows) (any, error) {
		t := &toy{fault: fault, run: mechanism.Begin(ctx, l), data: data,
			params: make([]float64, toyDim), private: make([]float64, toyDim)}
		if fault == "bounds from the data" {
			t.rescale()
		}
		err := t.train()
		return struct {
			Params []float64
			Log    []string
		}{t.params, t.log}, err
	}
}

func (t *toy) is(fault string) bool { return t.fault == fault }

func (t *toy) rescale() {
	scaled := make(rows, len(t.data))
	most := 1e-9
	for _, r := range t.data {
		for _, v := range r {
			most = max(most, math.Abs(v))
		}
	}
	for i, r := range t.data {
		for _, v := range r {
			scaled[i] = append(scaled[i], v/most)
		}
	}
	t.data = scaled
}

func (t *toy) event() accountant.Event {
	q, z := toyRate, toyNoise
	if t.is("sampling rate from the number of records") {
		q = min(1, 2/float64(max(len(t.data), 1)))
	}
	if t.is("noise scale from the data") {
		z *= 1 + float64(len(t.data))/10
	}
	return accountant.PoissonSampled{Probability: q, Event: accountant.Gaussian{NoiseMultiplier: z}}
}

func (t *toy) train() error {
	steps := toySteps
	if t.is("loop count from the number of records") {
		steps = len(t.data) + 1
	}
	e := t.event()
	a, err := t.run.Reserve("toy", e, steps)
	if err != nil {
		return err
	}
	for step := range steps {
		if err := t.step(a, e); err != nil {
			return err
		}
		if t.is("stopping on a private loss") && t.loss() > 100 {
			t.log = append(t.log, fmt.Sprintf("stopped at step %d", step))
			return nil
		}
	}
	return nil
}

func (t *toy) loss() float64 {
	sum := 0.0
	for _, r := range t.data {
		n := norm(r)
		sum += n * n
	}
	return sum
}

func (t *toy) step(a *mechanism.Allowance, e accountant.Event) error {
	g, err := a.Next()
	if err != nil {
		return err
	}
	index := t.sample(g)
	if t.is("skipping an empty batch") && len(index) == 0 {
		return nil
	}
	if t.is("batch size in the log") {
		t.log = append(t.log, fmt.Sprintf("batch of %d", len(index)))
	}
	if t.is("norm histogram on the same batch, not paid for") {
		if _, err := g.NoisyArgmax([]int64{int64(len(index)), 0}, 5, 1.0/5); err != nil {
			return err
		}
	}
	grads := t.gradients(index)
	clip := t.clipNorm(grads)
	sum, err := t.sum(grads, clip)
	if err != nil {
		return err
	}
	divisor := toyRate * toyNominal
	if t.is("mean over the realised batch") {
		divisor = float64(max(len(index), 1))
	}
	if t.is("exact number of records as divisor") {
		divisor = toyRate * float64(max(len(t.data), 1))
	}
	return t.release(g, e, sum, clip, divisor)
}

func (t *toy) sample(g *mechanism.Grant) []int32 {
	if t.is("shuffled batches instead of a Poisson sample") {
		return []int32{0, 1}[:min(2, len(t.data))]
	}
	index, _ := g.PoissonSample(len(t.data), nil, nil)
	if t.is("training on everything, not on the sample") {
		index = index[:0]
		for i := range t.data {
			index = append(index, int32(i))
		}
	}
	if t.is("sampling twice until the batch is large enough") && len(index) < 2 {
		index, _ = g.PoissonSample(len(t.data), nil, nil)
	}
	return index
}

func (t *toy) gradients(index []int32) rows {
	grads := make(rows, len(index))
	for i, row := range index {
		for j, v := range t.data[row] {
			grads[i] = append(grads[i], t.params[j]-v)
		}
	}
	if t.is("centring on the mean of all records") {
		mean := meanOf(t.data)
		for _, g := range grads {
			for j := range g {
				g[j] += mean[j]
			}
		}
	}
	if t.is("batch norm") {
		mean := meanOf(grads)
		for _, g := range grads {
			for j := range g {
				g[j] = 3 * (g[j] - mean[j])
			}
		}
	}
	return grads
}

func (t *toy) clipNorm(grads rows) float64 {
	if !t.is("clip norm from the batch") {
		return toyClip
	}
	most := 1e-3
	for _, g := range grads {
		most = max(most, norm(g))
	}
	return most
}

func (t *toy) sum(grads rows, clip float64) ([]float64, error) {
	sum := make([]float64, toyDim)
	add := func(g []float64, f float64) {
		for j, v := range g {
			sum[j] += f * v
		}
	}
	if t.is("clipping the batch, not each record") {
		total := make([]float64, toyDim)
		for _, g := range grads {
			for j, v := range g {
				total[j] += v
			}
		}
		add(total, float64(len(grads))*mechanism.ClipFactor(norm(total)*norm(total), clip))
		return sum, nil
	}
	for i, g := range grads {
		n := norm(g)
		f := mechanism.ClipFactor(n*n, clip)
		switch {
		case t.is("no clipping"):
			f = 1
		case t.is("clipping each coordinate"):
			for j, v := range g {
				sum[j] += max(min(v, clip), -clip)
			}
			continue
		case t.is("clip factor squared away"):
			f = clip / math.Sqrt(n)
		case t.is("NaN passes the clip"):
			if f = clip / n; n != n || math.IsInf(n, 0) {
				f = 1
				g = []float64{100, 100, 100}
			}
		case t.is("error on a bad record") && (n != n || math.IsInf(n, 0)):
			return nil, fmt.Errorf("record %d is not finite", i)
		case t.is("panic on a bad record") && n != n:
			panic("not a number")
		case t.is("record counted twice"):
			add(g, f)
		}
		if f > 0 {
			add(g, f)
		}
	}
	if t.is("micro-batches weighted by their size") {
		for j := range sum {
			sum[j] *= float64(len(grads))
		}
	}
	return sum, nil
}

func (t *toy) release(g *mechanism.Grant, e accountant.Event, sum []float64, clip,
	divisor float64) error {
	z := e.(accountant.PoissonSampled).Event.(accountant.Gaussian).NoiseMultiplier
	sensitivity := mechanism.SumSensitivity(t.run.Relation(), clip)
	if t.is("add/remove sensitivity under replace-one") {
		sensitivity = clip
	}
	float := make([]float32, toyDim)
	for j, v := range sum {
		float[j] = float32(v)
	}
	update := func(offset int, noisy []float64) {
		for j, v := range noisy {
			if t.is("private momentum") {
				t.private[offset+j] = 0.9*t.private[offset+j] + sum[offset+j]
				v += 0.1 * t.private[offset+j]
			}
			if t.is("update kept only where the true gradient agrees") && v*sum[offset+j] < 0 {
				v = 0
			}
			t.params[offset+j] -= 0.1 * v / divisor
		}
	}
	if t.is("one event for two parameter groups") {
		// This is not parallel composition: the same record is in both groups.
		for _, part := range [][]float32{float[:2], float[2:]} {
			if err := g.ReleaseGradient(mechanism.Gradient{Sum: part, Sensitivity: sensitivity,
				NoiseMultiplier: z}, func(int, []float64) {}); err != nil {
				return err
			}
		}
		return nil
	}
	return g.ReleaseGradient(mechanism.Gradient{Sum: float, Sensitivity: sensitivity,
		NoiseMultiplier: z}, update)
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s)
}

func meanOf(vs rows) []float64 {
	m := make([]float64, toyDim)
	for _, v := range vs {
		for j, x := range v {
			m[j] += x / float64(len(vs))
		}
	}
	return m
}

var loopFaults = []string{
	"no clipping",
	"clipping each coordinate",
	"clip factor squared away",
	"clipping the batch, not each record",
	"clip norm from the batch",
	"noise scale from the data",
	"bounds from the data",
	"loop count from the number of records",
	"sampling rate from the number of records",
	"skipping an empty batch",
	"mean over the realised batch",
	"exact number of records as divisor",
	"batch size in the log",
	"batch norm",
	"private momentum",
	"update kept only where the true gradient agrees",
	"stopping on a private loss",
	"error on a bad record",
	"panic on a bad record",
	"NaN passes the clip",
	"record counted twice",
	"micro-batches weighted by their size",
	"one event for two parameter groups",
	"norm histogram on the same batch, not paid for",
	"sampling twice until the batch is large enough",
	"shuffled batches instead of a Poisson sample",
	"training on everything, not on the sample",
	"centring on the mean of all records",
}

// toyPairs returns neighbours for the loops, by relation.
func toyPairs(r accountant.Relation) [][2]rows {
	nan, big := math.NaN(), []float64{50, -30, 20}
	bases := []rows{nil, {{0.5, 0.1, 0}},
		{{3, 4, 5}, {-1, 0, 2}, {0.1, 0.1, 0.1}, {2, 2, 2}, {1, -1, 1}}}
	var pairs [][2]rows
	for _, b := range bases {
		for _, extra := range [][]float64{big, {0.01, 0, 0}, {nan, nan, nan}, {math.Inf(1), 0, 0},
			{1, 1, 1}} {
			with := append(slices.Clone(b), extra)
			without := b
			if r == accountant.ReplaceOne {
				without = append(slices.Clone(b), []float64{-50, 30, -20})
			}
			pairs = append(pairs, [2]rows{without, with})
		}
	}
	return pairs
}

func loopFindings(t *testing.T, fault string, r accountant.Relation) []string {
	t.Helper()
	for _, p := range toyPairs(r) {
		f := Replay[rows]{Run: toyRun(fault), Budget: toyBudget(r), Data: p[0],
			Neighbour: p[1]}.Findings(t)
		if len(f) > 0 {
			return f
		}
	}
	return nil
}

// TestBrokenLoopsAreCaught: every fault has a finding, and the correct version has none.
func TestBrokenLoopsAreCaught(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		if f := loopFindings(t, "", r); len(f) > 0 {
			t.Fatalf("the correct loop has findings under %v: %v", r, f)
		}
	}
	for _, fault := range loopFaults {
		if f := loopFindings(t, fault, accountant.AddOrRemoveOne); len(f) == 0 {
			t.Errorf("%s: not caught", fault)
		} else {
			t.Logf("%s: %s", fault, f[0])
		}
	}
	const relation = "add/remove sensitivity under replace-one"
	if f := loopFindings(t, relation, accountant.ReplaceOne); len(f) == 0 {
		t.Errorf("%s: not caught", relation)
	}
}

// clusters returns a one-shot release of the counts of records by cluster.
func clusters(fault string) func(context.Context, *ledger.Ledger, rows) (any, error) {
	const k, std = 2, 2.0
	return func(ctx context.Context, l *ledger.Ledger, data rows) (any, error) {
		grid := mechanism.GridFor(std)
		if fault == "grid from the data" {
			grid *= math.Ldexp(1, -min(len(data), 3))
		}
		counts := mechanism.NewFixedSum(k, grid)
		exact := make([]int, k)
		for _, r := range data {
			centre := 0
			if len(r) > 0 && r[0] > 0 {
				centre = 1
			}
			counts.AddInt(centre, 1)
			exact[centre]++
			if fault == "record in two clusters" && len(r) > 0 && r[0] > 2 {
				counts.AddInt(0, 1)
			}
		}
		effect := mechanism.HistogramSensitivity(l.Relation()) / std
		if fault == "one cell's sensitivity under replace-one" {
			effect = 1 / std
		}
		g, err := mechanism.Begin(ctx, l).Spend("counts",
			accountant.Gaussian{NoiseMultiplier: 1 / effect})
		if err != nil {
			return nil, err
		}
		out := make([]float64, k)
		if err := g.Release(effect, mechanism.Part{Sum: counts, Std: std, Out: out}); err != nil {
			return nil, err
		}
		switch fault {
		case "exact cluster sizes as weights":
			return exact, nil
		case "empty clusters dropped":
			for i, n := range exact {
				if n == 0 {
					out[i] = 0
				}
			}
		case "released twice, paid once":
			return out, g.Release(effect, mechanism.Part{Sum: counts, Std: std, Out: out})
		}
		return out, nil
	}
}

func TestBrokenClustersAreCaught(t *testing.T) {
	find := func(fault string, r accountant.Relation) []string {
		for _, p := range toyPairs(r) {
			if f := (Replay[rows]{Run: clusters(fault), Budget: toyBudget(r), Data: p[0],
				Neighbour: p[1]}).Findings(t); len(f) > 0 {
				return f
			}
		}
		return nil
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		if f := find("", r); len(f) > 0 {
			t.Fatalf("the correct version has findings: %v", f)
		}
	}
	for _, fault := range []string{"record in two clusters", "exact cluster sizes as weights",
		"empty clusters dropped", "released twice, paid once", "grid from the data"} {
		if f := find(fault, accountant.AddOrRemoveOne); len(f) == 0 {
			t.Errorf("%s: not caught", fault)
		}
	}
	if f := find("one cell's sensitivity under replace-one", accountant.ReplaceOne); len(f) == 0 {
		t.Error("histogram under replace-one: not caught")
	}
}
