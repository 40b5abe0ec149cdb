package mix_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// striped draws 6×6 images of three classes. Each image has a bright horizontal band at the top, in
// the middle or at the bottom. The band varies in brightness and has a horizontal slope.
func striped(t testing.TB, n int, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	flat, labels := make([]float32, n*36), make([]int32, n)
	for i := range n {
		labels[i] = int32(rng.IntN(3))
		bright, slope := 0.6+0.15*rng.NormFloat64(), 0.05*rng.NormFloat64()
		for y := range 6 {
			for x := range 6 {
				v := 0.1
				if y/2 == int(labels[i]) {
					v = bright + slope*(float64(x)-2.5)
				}
				flat[i*36+y*6+x] = float32(v)
			}
		}
	}
	table := must(records.FromFlat(records.Image(6, 6).WithLabels("high", "middle", "low"),
		flat, labels...))(t)
	return table
}

var releases = map[bool]*mix.Model{}

// mixed returns mixtures of striped images, which are released only once.
func mixed(t testing.TB, byClass bool) *mix.Model {
	t.Helper()
	if m := releases[byClass]; m != nil {
		return m
	}
	data := striped(t, 6000, 1)
	c := mix.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 8, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 6000, Degree: 32},
		Mixtures: 3000, ClipNorm: 3, ByClass: byClass}
	if byClass {
		c.Centers = mix.Centers{Share: 0.2, ClipNorm: 1.5}
	}
	// The noise has a fixed seed, because these tests are not about the noise.
	gen := must(mustPlan(t, c).Fit(privacytest.Seeded(t, t.Context(), 1), data))(t)
	releases[byClass] = gen.Model().(*mix.Model)
	return releases[byClass]
}

func accuracy(t *records.Table, predict func(device.Batch, []int32)) float64 {
	var b device.Batch
	t.Range(0, t.Len(), &b)
	out, right := make([]int32, t.Len()), 0.0
	predict(b, out)
	for i, l := range b.Labels {
		if out[i] == l {
			right++
		}
	}
	return right / float64(t.Len())
}

// TestLearning checks that models learnt from a release in each of the package's ways classify
// single records.
func TestLearning(t *testing.T) {
	ctx, test := context.Background(), striped(t, 600, 2)
	for name, byClass := range map[string]bool{"together": false, "by class": true} {
		t.Run(name, func(t *testing.T) {
			m := mixed(t, byClass)
			moments := must(m.Moments())(t)
			checkMoments(t, moments)
			fresh := classifier(t)
			if err := (mix.Trainer{LearningRate: 5e-3}).FitMoments(ctx, fresh, moments, 2000); err != nil {
				t.Fatal(err)
			}
			described := must(moments.Described(test))(t)
			if err := records.Check(described); err != nil {
				t.Errorf("described images leave their domain: %v", err)
			}
			if got := accuracy(described, fresh.PredictClass); got < 0.95 {
				t.Errorf("network on fresh records: accuracy %.3f, want at least 0.95", got)
			}
			soft := classifier(t)
			rows := mix.Project(m.Whiten(), m.Schema())
			if err := (mix.Trainer{LearningRate: 5e-3, Epochs: 10}).Fit(ctx, soft, rows); err != nil {
				t.Fatal(err)
			}
			if got := accuracy(test, soft.PredictClass); got < 0.9 {
				t.Errorf("network on mixtures: accuracy %.3f, want at least 0.9", got)
			}
		})
	}
}

func classifier(t *testing.T) *models.Classifier {
	t.Helper()
	return must(models.MLP{Hidden: []int{20}}.Classifier(device.CPU(), 36, 3, 1))(t)
}

// checkMoments compares the class means of m with the means of 3000 other records, and variances of
// drawn records with theirs: in 180 classes with other noise the ratio was 0.68 ± 0.07.
func checkMoments(t *testing.T, m *mix.Moments) {
	t.Helper()
	data := striped(t, 3000, 9)
	drawn := must(m.Sample(t.Context(), 1000, 1))(t)
	for class, rows := range data.RowsByLabel() {
		var b device.Batch
		data.Gather(rows, &b)
		worst := 0.0
		for j, got := range mix.MeanOf(m, class) {
			mean := 0.0
			for i := range b.Rows {
				mean += float64(b.Dense.Row(i)[j]) / float64(b.Rows)
			}
			worst = max(worst, math.Abs(got-mean))
		}
		t.Logf("class %d: mean off by %.4f", class, worst)
		if r := variance(drawn, class) / variance(data, class); r < 0.25 || r > 2 {
			t.Errorf("class %d: the variance is %.2f of that of real records", class, r)
		}
		if worst > 0.15 || m.Components(class) < 1 {
			t.Errorf("class %d: mean off by %.3f, %d components", class, worst, m.Components(class))
		}
	}
}

// variance returns the sum of the variances of all coordinates within a class.
func variance(d *records.Table, class int) (sum float64) {
	var b device.Batch
	d.Gather(d.RowsByLabel()[class], &b)
	for j := range b.Dense.Cols {
		var first, second float64
		for i := range b.Rows {
			v := float64(b.Dense.Row(i)[j])
			first, second = first+v/float64(b.Rows), second+v*v/float64(b.Rows)
		}
		sum += second - first*first
	}
	return sum
}

// TestRowsSurviveSaving checks that a model file and the arrays of an npz file hold the rows.
func TestRowsSurviveSaving(t *testing.T) {
	m := mixed(t, true)
	var out bytes.Buffer
	if err := m.Rows().WriteNPZ(&out); err != nil {
		t.Fatal(err)
	}
	features, labels := m.Rows().Matrices()
	z := must(zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())))(t)
	for name, want := range map[string]device.Matrix{"x.npy": features, "y.npy": labels} {
		f := must(z.Open(name))(t)
		got := must(records.ReadNPY(f, records.Interval(want.Cols, -1e30, 1e30)))(t)
		if flat, _ := got.Flat(); !reflect.DeepEqual(flat, want.Data) {
			t.Errorf("%s holds other numbers", name)
		}
	}
	f := encoded(t, m)
	if again := encoded(t, decoded(t, f)); !reflect.DeepEqual(f, again) {
		t.Error("a model file changes when it is read and written again")
	}
	f.Sections[0].Data = f.Sections[0].Data[:40]
	if _, err := mix.System().Model(f, synth.Loading{}); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("a file with too few features: got %v, want ErrFormat", err)
	}
}

func encoded(t testing.TB, m *mix.Model) *synth.File {
	t.Helper()
	return must(m.Encode())(t)
}

func decoded(t testing.TB, f *synth.File) *mix.Model {
	t.Helper()
	m := must(mix.System().Model(f, synth.Loading{}))(t)
	return m.(*mix.Model)
}

// TestPlanKeepsItsCandidates writes and reads a plan that chose its degree. The text and the price
// must not change.
func TestPlanKeepsItsCandidates(t *testing.T) {
	c := small(records.Image(2, 3), mix.Poisson{Nominal: 200})
	p := mustPlan(t, c)
	text := must(json.Marshal(p))(t)
	read := must(synth.Systems{mix.System()}.ReadPlan(text))(t)
	if len(p.Candidates) < 2 || read.String() != p.String() || read.Total() != p.Total() {
		t.Errorf("the plan\n%v\nis read as\n%v", p, read)
	}
}

// TestNoiseIsThePlans checks that rows of an empty data set are noise with the plan's standard
// deviation. The sample standard deviation of 21,600 numbers is off by 3 % or more with probability
// 5e-10.
func TestNoiseIsThePlans(t *testing.T) {
	none := must(records.FromFlat(records.Image(6, 6).WithLabels("a", "b", "c"), nil))(t)
	c := mix.Config{Schema: none.Schema(), Budget: accountant.Budget{Epsilon: 8, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 300, Degree: 4}, Mixtures: 7200, ClipNorm: 3}
	p := mustPlan(t, c)
	m := released(t, p, none)
	x, y := m.Rows().Matrices()
	wantX, wantY := p.Noise()
	for name, v := range map[string][2]float64{"features": {spread(x.Data[:21600]), wantX},
		"labels": {spread(y.Data), wantY}} {
		off := func(scale float64) bool { return math.Abs(v[0]/(v[1]*scale)-1) > 0.03 }
		if off(1) {
			t.Errorf("%s: noise has standard deviation %.4f, the plan says %.4f", name, v[0], v[1])
		}
		if !off(0.7) || !off(1.3) {
			t.Errorf("%s: the test would accept noise that is too large or too small by 30 %%", name)
		}
	}
}

func spread(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// TestProject checks that Project clamps features and replaces labels by the nearest shares.
func TestProject(t *testing.T) {
	rows := mix.RowsOf(2, 3, []float32{-1, 0.5, 2, 1}, []float32{0.2, 0.3, 0.5, 2, -1, 0})
	p := mix.Project(rows, records.Image(1, 2))
	want := mix.RowsOf(2, 3, []float32{0, 0.5, 1, 1}, []float32{0.2, 0.3, 0.5, 1, 0, 0})
	for i := range 2 {
		for j, v := range p.Features(i) {
			if v != want.Features(i)[j] {
				t.Errorf("row %d: got features %v, want them clamped to [0, 1]", i, p.Features(i))
			}
		}
		for k, v := range p.Labels(i) {
			if math.Abs(float64(v-want.Labels(i)[k])) > 1e-6 {
				t.Errorf("row %d: got labels %v, want the nearest shares", i, p.Labels(i))
			}
		}
	}
}

// TestDenoise checks that smoothing leaves constant images unchanged and reduces noise.
func TestDenoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 7 * 9 * 3
	flat := make([]float32, 2*n)
	for i := range n {
		flat[i], flat[n+i] = 0.3*float32(i%3), float32(rng.NormFloat64())
	}
	rows := mix.RowsOf(n, 0, flat, nil)
	out := must(mix.Denoise(rows, records.RGBImage(7, 9), 1))(t)
	for i, v := range out.Features(0) {
		if math.Abs(float64(v-flat[i])) > 1e-5 {
			t.Errorf("number %d of one colour is %v after smoothing, want %v", i, v, flat[i])
		}
	}
	if got := spread(out.Features(1)); got > 0.6*spread(rows.Features(1)) {
		t.Errorf("smoothing changed the noise from %v to %v, want at most 0.6 of it",
			spread(rows.Features(1)), got)
	}
	if _, err := mix.Denoise(rows, records.Interval(n, 0, 1), 1); err == nil {
		t.Error("Denoise accepts vectors, want an error")
	}
}

// TestBaselines checks that the paper's two baselines, single records and projected single records,
// can be planned and released.
func TestBaselines(t *testing.T) {
	data := striped(t, 200, 1)
	base := mix.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5,
		Relation: accountant.ReplaceOne},
		Sampling: mix.WithoutReplacement{Records: 200, Degree: 1}, Mixtures: 200, ClipNorm: 3}
	projected := base
	projected.Projection = mix.Projection{Dim: 5, Seed: 1}
	for _, c := range []mix.Config{base, projected} {
		p := mustPlan(t, c)
		m := released(t, p, data)
		if p.Degree() != 1 {
			t.Errorf("degree %d, want 1", p.Degree())
		}
		if c.Projection.Dim > 0 && (m.Rows().Dim() != 5 || m.Schema().Dim() != 5) {
			t.Errorf("rows have %d coordinates, want 5", m.Rows().Dim())
		}
		if prepared, err := m.Prepared(data); err != nil || prepared.Schema().Dim() != m.Rows().Dim() {
			t.Errorf("records prepared for a model: %v", err)
		}
	}
}

// TestDegreeIsChosenInside checks that the chosen degree has the highest score and is not at an end
// of the grid.
func TestDegreeIsChosenInside(t *testing.T) {
	c := mix.Config{Schema: records.Image(28, 28).WithLabels("0", "1"),
		Budget: accountant.Budget{Epsilon: 2,
			Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 60000}, Mixtures: 60000, ClipNorm: 9}
	p := mustPlan(t, c)
	best := 0.0
	for _, k := range p.Candidates {
		best = max(best, k.Score)
	}
	for _, k := range p.Candidates {
		if (k.Degree == p.Degree()) != (k.Score == best) {
			t.Errorf("degree %d was chosen; its score is not the highest of %v", p.Degree(), p.Candidates)
		}
	}
	if len(p.Candidates) < 3 || p.Degree() == 1 || p.Degree() == 512 {
		t.Errorf("degree %d was chosen of %v, want one inside the grid", p.Degree(), p.Candidates)
	}
}

// TestMomentsOfAnyRows checks that records drawn from the moments of any finite rows are valid.
// Such rows may come from a file.
func TestMomentsOfAnyRows(t *testing.T) {
	for _, byClass := range []bool{true, false} {
		f := encoded(t, mixed(t, byClass))
		for i := 0; i+3 < len(f.Sections[0].Data); i += 4 {
			copy(f.Sections[0].Data[i:], []byte{0xff, 0xff, 0x7f, 0x7f}) // the largest float32
		}
		moments := must(decoded(t, f).Moments())(t)
		drawn, err := moments.Sample(context.Background(), 20, 1)
		if err != nil || records.Check(drawn) != nil {
			t.Errorf("drawn records: errors %v and %v, want none", err, records.Check(drawn))
		}
	}
}

// TestMomentsOfNoClass checks that all classes are equally likely if no class has a positive noisy
// count.
func TestMomentsOfNoClass(t *testing.T) {
	f := encoded(t, mixed(t, false))
	for i := 0; i+3 < len(f.Sections[1].Data); i += 4 {
		copy(f.Sections[1].Data[i:], []byte{0, 0, 0x80, 0xbf}) // −1
	}
	moments := must(decoded(t, f).Moments())(t)
	drawn := must(moments.Sample(context.Background(), 200, 1))(t)
	seen := map[int32]int{}
	for _, l := range drawn.Labels() {
		seen[l]++
	}
	for class := range moments.Classes() {
		if seen[int32(class)] < 40/moments.Classes() {
			t.Errorf("class %d was drawn %d times of 200, want about a third", class, seen[int32(class)])
		}
	}
}

// TestMomentsOfSubsets checks the moments if every sample has the same size, which makes the class
// counts dependent. The records are vectors, whose coordinates are a basis of their own.
func TestMomentsOfSubsets(t *testing.T) {
	images := striped(t, 6000, 1)
	flat, _ := images.Flat()
	data := must(records.FromFlat(records.Interval(36, 0, 1).WithLabels("high", "middle", "low"), flat,
		images.Labels()...))(t)
	c := mix.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 16, Delta: 1e-5,
		Relation: accountant.ReplaceOne}, Sampling: mix.WithoutReplacement{Records: 6000, Degree: 32},
		Mixtures: 3000, ClipNorm: 3}
	moments := must(released(t, mustPlan(t, c), data).Moments())(t)
	checkMoments(t, moments)
}

// TestDrawnImagesGetNoise checks that drawn images get noise of the given standard deviation. The
// default is a tenth of the range of a pixel, and a negative setting means no noise. Training with
// the noise must give another network. The seed is fixed. Only about one seed in ten million would
// exceed the tolerance of 2 %.
func TestDrawnImagesGetNoise(t *testing.T) {
	m := must(mixed(t, true).Moments())(t)
	for _, c := range []struct{ noise, want float64 }{{0, 0.1}, {0.3, 0.3}, {-1, 0}} {
		if got := mix.NoiseOfDrawn(m, c.noise); math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("noise %v: got a standard deviation of %v, want %v", c.noise, got, c.want)
		}
	}
	learnt := func(noise float64) []float32 {
		net := must(models.MLP{Hidden: []int{3}}.Classifier(device.CPU(), 36, 3, 1))(t)
		learner := mix.Trainer{Epochs: 1, Noise: noise}
		if err := learner.FitMoments(t.Context(), net, m, 200); err != nil {
			t.Fatal(err)
		}
		return net.Params().Flat.Data
	}
	if reflect.DeepEqual(learnt(0), learnt(-1)) {
		t.Error("noise has no effect on learning")
	}
	if !reflect.DeepEqual(learnt(0), learnt(0.1)) {
		t.Error("the trainer's default noise is not a tenth of a pixel's range, as documented")
	}
}
