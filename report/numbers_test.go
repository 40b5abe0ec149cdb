package report_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/risk"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// equal fails the test unless two numbers are equal, or both are missing.
func equal(t *testing.T, what string, got report.Number, want float64) {
	t.Helper()
	if float64(got) != want && !(got.IsNone() && math.IsNaN(want)) {
		t.Errorf("%s: %v, the library says %v", what, float64(got), want)
	}
}

// near fails the test unless two numbers are equal up to rounding errors.
func near(t *testing.T, what string, got report.Number, want float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= 1e-12) {
		t.Errorf("%s: %v, want %v", what, float64(got), want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// tablesOf returns the tables of the whole report.
func tablesOf(t *testing.T, in report.Input) (real, held, fake *tabular.Table) {
	read := must[*tabular.Table](t)
	return read(tabular.Read(in.Real, nil)), read(tabular.Read(in.HeldOut, nil)),
		read(tabular.Read(in.Synthetic, nil))
}

func TestScoresAreTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	real, held, fake := tablesOf(t, in)
	for _, side := range []struct {
		got  report.QualityScores
		with *tabular.Table
	}{{r.Quality.Synthetic, fake}, {*r.Quality.HeldOut, held}} {
		q := must[tabular.Quality](t)(tabular.Compare(real, side.with, 0, 0))
		equal(t, "ColumnShapes", side.got.ColumnShapes, q.ColumnShapes)
		equal(t, "ColumnPairTrends", side.got.ColumnPairTrends, q.ColumnPairTrends)
		equal(t, "AllPairs", side.got.AllPairs, q.AllPairs)
		equal(t, "Score", side.got.Score, q.Score)
		if len(side.got.Shapes) != 8 || len(side.got.Pairs) != 28 {
			t.Fatalf("%d shapes, %d pairs", len(side.got.Shapes), len(side.got.Pairs))
		}
		for i, s := range q.Shapes {
			got := side.got.Shapes[i]
			equal(t, s.Column, got.Score, s.Score)
			if got.Column != s.Column || got.Metric != s.Metric {
				t.Errorf("%+v, want %+v", got, s)
			}
		}
		for i, p := range q.Pairs {
			got := side.got.Pairs[i]
			equal(t, "pair", got.Score, p.Score)
			equal(t, "real", got.Real, p.Real)
			equal(t, "synthetic", got.Synthetic, p.Synthetic)
			equal(t, "association", got.Association, p.Association)
			if got.Columns != p.Columns || got.Metric != p.Metric || got.Counts != p.Related {
				t.Errorf("%+v, want %+v", got, p)
			}
		}
	}
	if r.Quality.Rows != in.Real.Len() {
		t.Errorf("%d rows", r.Quality.Rows)
	}
}

func TestThreeWayTablesAreTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	real, held, fake := tablesOf(t, in)
	groups := must[[][]int](t)(real.Groups(3, 20, quick().Seed))
	a := must[[]float64](t)(tabular.Variation(real, fake, groups, r.ThreeWay.Bins))
	b := must[[]float64](t)(tabular.Variation(real, held, groups, r.ThreeWay.Bins))
	found, sumA, sumB := 0, 0.0, 0.0
	for i, g := range groups {
		names := []string{real.Columns()[g[0]], real.Columns()[g[1]], real.Columns()[g[2]]}
		sumA, sumB = sumA+a[i]/float64(len(a)), sumB+b[i]/float64(len(b))
		for _, got := range r.ThreeWay.Groups {
			if slices.Equal(got.Columns, names) {
				found++
				equal(t, "synthetic", got.Synthetic, a[i])
				equal(t, "held-out", got.HeldOut, b[i])
			}
		}
	}
	if found != 20 || len(r.ThreeWay.Groups) != 20 {
		t.Errorf("%d of %d groups", found, len(r.ThreeWay.Groups))
	}
	near(t, "mean", r.ThreeWay.Mean.Synthetic, sumA)
	near(t, "mean, held-out", r.ThreeWay.Mean.HeldOut, sumB)
	if !slices.IsSortedFunc(r.ThreeWay.Groups, func(a, b report.Group) int {
		if a.Synthetic >= b.Synthetic {
			return -1
		}
		return 1
	}) {
		t.Error("the worst group is not the first")
	}
}

// TestColumnsAreCounted compares every bar with a simple count of its records.
func TestColumnsAreCounted(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	schema := in.Real.Schema()
	share := func(d records.Data, in func(f *records.Frame, row int) bool) float64 {
		f, _ := records.AsFrame(d)
		n := 0
		for i := range f.Len() {
			if in(f, i) {
				n++
			}
		}
		return float64(n) / float64(f.Len())
	}
	for j, c := range r.Columns {
		check := func(b report.Bar, in2 func(*records.Frame, int) bool) {
			near(t, c.Name+" "+b.Label+", real", b.Real, share(in.Real, in2))
			near(t, c.Name+" "+b.Label+", synthetic", b.Synthetic, share(in.Synthetic, in2))
		}
		if c.Missing != nil {
			check(*c.Missing, func(f *records.Frame, i int) bool { return f.Value(i, j) == "" })
		}
		shown := map[string]bool{}
		for k, b := range c.Bars {
			last := k == len(c.Bars)-1
			switch {
			case c.Number:
				check(b, func(f *records.Frame, i int) bool {
					v := f.Number(i, j)
					return v >= float64(b.From) && (v < float64(b.To) || last && v <= float64(b.To))
				})
			case c.More > 0 && last:
				check(b, func(f *records.Frame, i int) bool { return !shown[f.Value(i, j)] })
			default:
				shown[b.Label] = true
				check(b, func(f *records.Frame, i int) bool { return f.Value(i, j) == b.Label })
			}
		}
		want := schema.Columns()[j]
		if c.Name != want.Name() || (c.Missing != nil) != want.HasMissing() {
			t.Errorf("column %d is %s", j, c.Name)
		}
	}
	if len(r.Columns) != 8 || r.Columns[4].More != 9 || len(r.Columns[4].Bars) != 17 {
		t.Errorf("%d columns, %d more levels", len(r.Columns), r.Columns[4].More)
	}
}

func TestClassifiersAreTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	u := must[evaluate.Utilities](t)(evaluate.Suite{Methods: quick().Methods}.Compare(in.Synthetic,
		in.Real, in.HeldOut))
	check := func(what string, got report.Scores, want classify.Classification) {
		equal(t, what+" accuracy", got.Accuracy, want.Accuracy())
		equal(t, what+" F1", got.MacroF1, want.MacroF1())
		equal(t, what+" ROC", got.ROC, want.Scores.ROC)
	}
	for i, m := range u.Methods {
		check("synthetic", r.Classifiers.Rows[i].Synthetic, m.Synthetic)
		check("real", r.Classifiers.Rows[i].Real, m.Real)
		if r.Classifiers.Rows[i].Method != m.Real.Model {
			t.Errorf("%s is called %s", m.Real.Model, r.Classifiers.Rows[i].Method)
		}
	}
	if r.Classifiers.Tested != 400 || r.Classifiers.Trained != 700 || len(r.Classifiers.Rows) != 2 {
		t.Errorf("%+v", r.Classifiers)
	}
	// the accuracy of the most frequent class, by a simple count
	train, _ := records.AsFrame(in.Real)
	test, _ := records.AsFrame(in.HeldOut)
	counts := [3]int{}
	for i := range train.Len() {
		counts[train.Label(i)]++
	}
	most := slices.Index(counts[:], slices.Max(counts[:]))
	right := 0
	for i := range test.Len() {
		if test.Label(i) == most {
			right++
		}
	}
	equal(t, "majority", r.Classifiers.Majority.Accuracy, float64(right)/400)
	equal(t, "majority ROC", r.Classifiers.Majority.ROC, 0.5)
	// Shuffled columns say nothing about the class, so the area under the curve is ½ on average. Its
	// standard deviation over 400 records is below 0.03, and a false alarm needs five of them.
	if roc := float64(r.Classifiers.Independent.ROC); math.Abs(roc-0.5) > 0.15 {
		t.Errorf("a classifier trained on shuffled columns has ROC AUC %v, want about ½", roc)
	}
	if !(r.Classifiers.Rows[1].Real.ROC > 0.7) {
		t.Errorf("a tree trained on real records has ROC AUC %v, want more than 0.7",
			r.Classifiers.Rows[1].Real.ROC)
	}
}

func TestPropensityIsTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	p := must[evaluate.PropensityScore](t)(evaluate.Propensity{Seed: quick().Seed}.Compare(
		in.Synthetic, in.Real, in.HeldOut))
	equal(t, "pMSE", r.Propensity.PMSE.Synthetic, p.PMSE.Synthetic)
	equal(t, "pMSE, held-out", r.Propensity.PMSE.HeldOut, p.PMSE.HeldOut)
	equal(t, "ROC", r.Propensity.AUC.Synthetic, p.ROC.Synthetic)
	equal(t, "ROC, held-out", r.Propensity.AUC.HeldOut, p.ROC.HeldOut)
	if !reflect.DeepEqual(r.Propensity.Curve, report.CurveOf(p.Curve)) ||
		!reflect.DeepEqual(*r.Propensity.HeldOut, report.CurveOf(p.HeldCurve)) ||
		r.Propensity.Records != p.Records {
		t.Error("the curves are not the library's")
	}
	onCurve(t, r.Propensity.Curve, p.Curve)
}

// onCurve fails the test unless at every rate the report's curve has the height of the highest
// point of the full curve.
func onCurve(t *testing.T, got report.Curve, points []classify.ROCPoint) {
	t.Helper()
	for i, f := range got.FalsePositive {
		best := 0.0
		for _, p := range points {
			if p.FalsePositive <= float64(f) {
				best = max(best, p.TruePositive)
			}
		}
		equal(t, "curve", got.TruePositive[i], best)
	}
}

func TestRiskIsTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	attacks := must[[]risk.Attack](t)(risk.Membership{Rows: 120, Seed: quick().Seed}.Attack(
		in.Synthetic, in.Real, in.HeldOut))
	if len(attacks) != len(r.Risk.Attacks) {
		t.Fatalf("%d attacks", len(r.Risk.Attacks))
	}
	for i, a := range attacks {
		got := r.Risk.Attacks[i]
		equal(t, a.Name, got.AUC, a.AUC)
		equal(t, a.Name, got.AtLow, a.AtLow)
		equal(t, a.Name, got.Accuracy, a.Best)
		onCurve(t, got.Curve, a.Curve)
		if got.Name != a.Name || got.Members != a.Members || got.Others != a.Others {
			t.Errorf("%+v, want %+v", got, a)
		}
	}
	d := must[risk.Closest](t)(risk.Distances(in.Synthetic, in.Real, in.HeldOut, 120, quick().Seed))
	for _, side := range []struct {
		got  report.Quantiles
		want []float64
	}{{r.Risk.Closest.Members, d.Members}, {r.Risk.Closest.Others, d.Others}} {
		equal(t, "least", side.got.Least, side.want[0])
		equal(t, "low", side.got.Low, side.want[5])
		equal(t, "median", side.got.Median, side.want[59])
		equal(t, "high", side.got.High, side.want[113])
	}
	equal(t, "closer", r.Risk.Closest.CloserToMembers, d.CloserToMembers)
	n := must[int](t)(risk.Matches(in.Synthetic, in.Real))
	h := must[int](t)(risk.Matches(in.HeldOut, in.Real))
	if r.Risk.Exact != (report.Matches{Count: n, Of: 600}) ||
		*r.Risk.ExactHeldOut != (report.Matches{Count: h, Of: 400}) || r.Risk.Closest.Records != 120 {
		t.Errorf("%+v", r.Risk)
	}
}

// TestBoundIsWhatThePromiseAllows checks the curves of the bound. The curve of one record must be
// the curve of the best test against the worst (ε, δ)-private mechanism. No curve of the accountant
// may lie above it. Under add-or-remove-one the curve of a split must be the curve of two changes.
func TestBoundIsWhatThePromiseAllows(t *testing.T) {
	for name, relation := range map[string]accountant.Relation{"table": accountant.AddOrRemoveOne,
		"sets": accountant.ReplaceOne} {
		g := spent(t, relation)
		r := made()[name](t).Risk
		equal(t, "ε", r.Epsilon, g.Epsilon)
		equal(t, "δ", r.Delta, g.Delta)
		twice := accountant.Approximate{Epsilon: 2 * g.Epsilon,
			Delta: (1 + math.Exp(g.Epsilon)) * g.Delta}
		if relation == accountant.ReplaceOne {
			twice = accountant.Approximate{Epsilon: g.Epsilon, Delta: g.Delta}
		}
		for _, c := range []struct {
			got   report.Curve
			event accountant.Approximate
		}{{r.Bound, accountant.Approximate{Epsilon: g.Epsilon, Delta: g.Delta}}, {r.SplitBound, twice}} {
			loose := must[[]accountant.TradeOffPoint](t)(accountant.TradeOff(c.event, relation,
				report.Rates()...))
			for i, f := range c.got.FalsePositive {
				near(t, "bound", c.got.TruePositive[i], worstROC(c.event, float64(f)))
				if float64(c.got.TruePositive[i]) > loose[i].TruePositive+1e-9 {
					t.Errorf("%s: at %v %v, above the accountant's %v", name, f, c.got.TruePositive[i],
						loose[i].TruePositive)
				}
			}
			if len(c.got.FalsePositive) != len(report.Rates()) {
				t.Errorf("%s: %d points", name, len(c.got.FalsePositive))
			}
		}
	}
}

// worstROC returns the true positive rate of the best test against the mechanism that dominates all
// (ε, δ)-private ones (Kairouz, Oh and Viswanath 2015). It has four outcomes. One can occur only
// for a member. One is e^ε times as likely for a member as for others. The other two have the roles
// exchanged.
func worstROC(e accountant.Approximate, falsePositive float64) float64 {
	likely, rare := (1-e.Delta)*math.Exp(e.Epsilon)/(1+math.Exp(e.Epsilon)),
		(1-e.Delta)/(1+math.Exp(e.Epsilon))
	member, other := []float64{e.Delta, likely, rare, 0}, []float64{0, rare, likely, e.Delta}
	tpr, left := 0.0, falsePositive
	for i := range member {
		part := 1.0
		if other[i] > 0 {
			part = min(1, left/other[i])
		}
		tpr, left = tpr+part*member[i], left-part*other[i]
	}
	return tpr
}

func TestQueriesAreTheLibrarys(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	real, held, fake := tablesOf(t, in)
	asked := real.Queries(60, quick().Seed)
	want := real.Answer(asked)
	check := func(got [4]report.Number, answers []float64) {
		sum := 0.0
		for i := range answers {
			answers[i] = math.Abs(answers[i] - want[i])
			sum += answers[i]
		}
		slices.Sort(answers)
		near(t, "mean", got[0], sum/60)
		equal(t, "median", got[1], answers[30])
		equal(t, "95th percentile", got[2], answers[57])
		equal(t, "largest", got[3], answers[59])
	}
	q := r.Queries
	check([4]report.Number{q.Mean.Synthetic, q.Median.Synthetic, q.High.Synthetic, q.Max.Synthetic},
		fake.Answer(asked))
	check([4]report.Number{q.Mean.HeldOut, q.Median.HeldOut, q.High.HeldOut, q.Max.HeldOut},
		held.Answer(asked))
	if q.Count != 60 {
		t.Errorf("%d queries", q.Count)
	}
}

func TestSetsAreTheLibrarys(t *testing.T) {
	real, held, fake := sets(t, 500, 1), sets(t, 300, 2), sets(t, 400, 3)
	r := made()["sets"](t)
	s := must[evaluate.SetReport](t)(evaluate.Statistics{}.Compare(real, fake))
	h := must[evaluate.SetReport](t)(evaluate.Statistics{}.Compare(real, held))
	for _, c := range []struct {
		name      string
		got       report.Beside
		fake, out float64
	}{{"items", r.Sets.ItemError, s.Items.Mean, h.Items.Mean},
		{"pairs", r.Sets.PairError, s.Pairs.Mean, h.Pairs.Mean},
		{"sizes", r.Sets.SizeError, s.Sizes, h.Sizes}, {"top", r.Sets.TopShared, s.Top, h.Top}} {
		equal(t, c.name, c.got.Synthetic, c.fake)
		equal(t, c.name+", held-out", c.got.HeldOut, c.out)
	}
	near(t, "mean", r.Sets.MeanReal, s.MeanReal)
	near(t, "mean, synthetic", r.Sets.MeanSynthetic, s.MeanFake)
	sizes, items := make([]float64, 41), make([]float64, 40)
	for i := range real.Len() {
		row := real.Items(i)
		sizes[len(row)] += 1.0 / 500
		for _, item := range row {
			items[item] += 1.0 / 500
		}
	}
	for _, b := range r.Sets.Sizes {
		near(t, "size "+b.Label, b.Real, sizes[int(b.From)])
	}
	for k, b := range r.Sets.Items {
		if k > 0 && b.Real > r.Sets.Items[k-1].Real {
			t.Errorf("%s is more frequent than the one before", b.Label)
		}
	}
	near(t, "item 0", r.Sets.Items[0].Real, items[0])
	x := must[*evaluate.Index](t)(evaluate.NewIndex(real))
	y := must[*evaluate.Index](t)(evaluate.NewIndex(fake))
	drawn := must[[][][]uint32](t)(evaluate.Queries{Count: 60, Seed: quick().Seed}.Draw(40,
		x.Longest()))
	sum, n := 0.0, 0
	for _, q := range slices.Concat(drawn...) {
		sum += math.Abs(float64(x.Any(q...))/500 - float64(y.Any(q...))/400)
		n++
	}
	near(t, "queries", r.Queries.Mean.Synthetic, sum/float64(n))
}

// TestCeilingIsComputed checks that the figure for the noise follows the formula in noise. The
// other figures must be means over columns of the scores of package tabular.
func TestCeilingIsComputed(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	c := r.Ceiling
	g := spent(t, accountant.AddOrRemoveOne)
	z, _, err := accountant.CalibrateNoise(accountant.Budget{Epsilon: g.Epsilon, Delta: g.Delta},
		func(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} })
	if err != nil {
		t.Fatal(err)
	}
	near(t, "noise", c.NoiseStd, z*math.Sqrt(8))
	// the first column and the fourth have one more cell, for missing values
	cells := []int{9, 8, 8, 5, 25, 3, 2, 3}
	want := 0.0
	for _, l := range cells {
		want += (1 - min(1, float64(l)*float64(c.NoiseStd)/(math.Sqrt(math.Pi)*700))) / 8
	}
	near(t, "ceiling", c.Noise, want)
	_, _, fake := tablesOf(t, in)
	second := must[*tabular.Table](t)(tabular.Read(in.Second, nil))
	a, b := fake.Histograms(8), second.Histograms(8)
	mean := 0.0
	for j := range a {
		apart := math.Abs(a[j].Missing - b[j].Missing)
		for i := range a[j].Shares {
			apart += math.Abs(a[j].Shares[i].Part - b[j].Shares[i].Part)
		}
		mean += (1 - apart/2) / 8
	}
	near(t, "second", c.Second, mean)
	if !(c.Sampling > c.Second && c.Sampling < 1) || c.Columns != 8 || c.Records != 600 ||
		c.Bins != 8 {
		t.Errorf("%+v", c)
	}
}

// TestLawOfTheNoise draws pairs of noisy histograms and compares their mean distance with the
// formula that the ceiling uses. The mean of 20,000 pairs has a relative standard deviation of
// 0.75/√(20000·25) = 0.0011, and six of them are 0.0064: fewer than one false alarm in 10⁸ runs.
func TestLawOfTheNoise(t *testing.T) {
	const levels, std, n, times = 25, 14.0, 700.0, 20_000
	rng := newNormal(7)
	sum := 0.0
	for range times {
		apart := 0.0
		for range levels {
			apart += math.Abs(std*rng() - std*rng())
		}
		sum += apart / 2 / n / times
	}
	want := levels * std / (math.Sqrt(math.Pi) * n)
	if math.Abs(sum/want-1) > 0.0064 {
		t.Errorf("two noisy histograms are %v apart on average, want %v", sum, want)
	}
}

func TestPromiseAndBillAreTheAccountants(t *testing.T) {
	in, r := whole(t), made()["table"](t)
	g := spent(t, accountant.AddOrRemoveOne)
	a := must[accountant.Attack](t)(accountant.AttackBounds(
		accountant.Approximate{Epsilon: g.Epsilon, Delta: g.Delta}, g.Delta, g.Relation))
	equal(t, "best guess", r.Promise.Attack, a.BestAccuracy)
	if r.Promise.Auditor.Epsilon != in.Generator.Guarantee().Epsilon {
		t.Errorf("ε = %v", r.Promise.Auditor.Epsilon)
	}
	if len(r.Bill) != len(g.Entries) {
		t.Fatalf("%d lines", len(r.Bill))
	}
	for i, l := range r.Bill {
		z := map[string]float64{"column counts": 4, "mean embedding": 6}[l.Purpose]
		b := must[accountant.Bound](t)(accountant.Epsilon(accountant.Gaussian{NoiseMultiplier: z},
			g.Delta, g.Relation))
		equal(t, l.Purpose, l.Epsilon, b.Upper)
		if l.Count != 1 || l.Description == "" {
			t.Errorf("line %d: %+v", i, l)
		}
	}
}

func TestImagesAreDrawn(t *testing.T) {
	r := made()["images"](t)
	if r.Images.Height != 8 || r.Images.Width != 8 || r.Images.Rows != 3 || r.Images.Columns != 10 {
		t.Fatalf("%+v", r.Images)
	}
	real := images(t, 300, 1)
	for name, c := range map[string]struct {
		png  []byte
		w, h int
	}{"real": {r.Images.Real, 89, 26}, "synthetic": {r.Images.Synthetic, 89, 26},
		"mean": {r.Images.MeanReal, 26, 8}, "mean, synthetic": {r.Images.MeanSynthetic, 26, 8}} {
		picture := decode(t, c.png)
		if b := picture.Bounds(); b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s is %v", name, b)
		}
	}
	// the third image of class y, in the second row and the third column
	place := 0
	for i := range real.Len() {
		if real.Label(i) != 1 {
			continue
		}
		if place++; place != 3 {
			continue
		}
		row := real.Row(nil, i)
		for p, v := range row {
			got := grey(decode(t, r.Images.Real), 2*9+p%8, 9+p/8)
			if got != uint8(255*min(max(v, 0), 1)+0.5) {
				t.Fatalf("pixel %d is %d, want %v", p, got, v)
			}
		}
	}
}
