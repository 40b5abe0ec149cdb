package report_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/synth"
)

// TestReportsStateTheirData: the numbers of records, which of them are compared, and how many
// values
// are outside the schema.
func TestReportsStateTheirData(t *testing.T) {
	s, err := records.NewSchema(records.Integer("age", 0, 9), records.Numeric("income", 0, 100),
		records.Flag("member", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(n, every int) *records.Frame {
		text := []byte("age,income,member\n")
		for i := range n {
			age, income := i%10, i%101
			if every > 0 && i%every == 0 {
				age = 77
			}
			if every > 0 && i%(2*every) == every {
				income = -5
			}
			text = fmt.Appendf(text, "%d,%d,%s\n", age, income, "ny"[i%2:i%2+1])
		}
		f, err := (records.CSV{Header: true}).ReadFrame(bytes.NewReader(text), s)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	set := quick()
	set.Rows = 100
	outside := "Not private: some values of the %s records are outside the schema and were " +
		"clamped or replaced: %s of %d records."
	sampled := "Of %d %s records 100, drawn at random, are compared."
	for what, c := range map[string]struct {
		real, held, synthetic, strays, heldStrays int
		want                                      report.Sizes
	}{
		"all": {100, 100, 100, 0, 0, report.Sizes{Real: 100, HeldOut: 100, Synthetic: 100,
			Compared: 100}},
		"few": {40, 0, 60, 0, 0, report.Sizes{Real: 40, Synthetic: 60, Compared: 40}},
		"many": {101, 120, 102, 0, 0, report.Sizes{Real: 101, HeldOut: 120, Synthetic: 102,
			Compared: 100,
			Sampling: []string{fmt.Sprintf(sampled, 101, "real"), fmt.Sprintf(sampled, 120, "held-out"),
				fmt.Sprintf(sampled, 102, "synthetic")}}},
		"outside": {40, 20, 60, 10, 20, report.Sizes{Real: 40, HeldOut: 20, Synthetic: 60, Compared: 40,
			Outside: []string{fmt.Sprintf(outside, "real", "column age in 4, column income in 2", 40),
				fmt.Sprintf(outside, "held-out real", "column age in 1", 20)}}},
	} {
		in := report.Input{Real: read(c.real, c.strays), Synthetic: read(c.synthetic, 0)}
		if c.held > 0 {
			in.HeldOut = read(c.held, c.heldStrays)
		}
		r, err := report.Compute(t.Context(), in, set)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Sizes
		got.Trained = 0
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) || r.Quality.Rows != min(c.real, 100) {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
		for _, note := range append(got.Sampling, got.Outside...) {
			if !strings.Contains(pageOf(t, r), note) {
				t.Errorf("%s: the page does not say: %s", what, note)
			}
		}
	}
}

// TestReportsStateWhatIsLeftOut: each section that is left out, with its reason, in the report and
// on the page.
func TestReportsStateWhatIsLeftOut(t *testing.T) {
	g := ledger.Guarantee{Epsilon: 1, Delta: 1e-6}
	two, err := records.NewSchema(records.Flag("x", "n", "y"), records.Flag("z", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	pairs := func(n int) *records.Frame {
		rows := make([][]any, n)
		for i := range rows {
			rows[i] = []any{"ny"[i%2 : i%2+1], "ny"[i/2%2 : i/2%2+1]}
		}
		return must[*records.Frame](t)(records.FromValues(two, rows...))
	}
	real, held, fake := table(t, 60, 1), table(t, 60, 2), table(t, 60, 3)
	noMethods := quick()
	noMethods.Methods = []classify.Method{}
	const classifiers, risks, ceiling = "classifiers", "membership inference and distances",
		"noise ceiling"
	for what, c := range map[string]struct {
		in     report.Input
		s      report.Settings
		public bool
		want   []string
	}{
		"everything": {report.Input{Real: real, HeldOut: held, Synthetic: fake, Guarantee: &g}, quick(),
			false, nil},
		"no held-out records": {report.Input{Real: real, Synthetic: fake, Guarantee: &g}, quick(),
			false,
			[]string{classifiers, risks}},
		"few held-out records": {report.Input{Real: real, HeldOut: held.Slice(0, 4), Synthetic: fake,
			Guarantee: &g}, noMethods, false, []string{classifiers, risks}},
		"no guarantee": {report.Input{Real: real, HeldOut: held, Synthetic: fake}, quick(), false,
			[]string{ceiling}},
		"two columns": {report.Input{Real: pairs(60), HeldOut: pairs(50), Synthetic: pairs(40),
			Guarantee: &g}, quick(), false, []string{"three-way tables", classifiers}},
		"for publication": {report.Input{Synthetic: fake, Guarantee: &g}, quick(), true,
			[]string{"scores against real records", ceiling}},
		"sets": {report.Input{Real: sets(t, 60, 1), HeldOut: sets(t, 50, 2), Synthetic: sets(t, 40, 3),
			Guarantee: &g}, quick(), false, []string{"column shapes and pair trends", "three-way tables",
			classifiers, ceiling}},
	} {
		compute := report.Compute
		if c.public {
			compute = report.Released
		}
		r, err := compute(t.Context(), c.in, c.s)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got []string
		page := pageOf(t, r)
		for _, o := range r.Omitted {
			got = append(got, o.Section)
			if o.Reason == "" || !strings.Contains(page, o.Reason) {
				t.Errorf("%s: no reason for leaving out %s on the page", what, o.Section)
			}
		}
		if r.Public != c.public || (r.Caveat == "") != c.public {
			t.Errorf("%s: public: %t, with the caveat %q", what, r.Public, r.Caveat)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: left out are %q, want %q", what, got, c.want)
		}
	}
}

// TestTitlesOfReports: the given title, or that of the system.
func TestTitlesOfReports(t *testing.T) {
	g := ledger.Guarantee{Epsilon: 1, Delta: 1e-6}
	fake := table(t, 60, 3)
	gen := synth.NewGenerator("redraw", redraw{fake}, g)
	for what, c := range map[string]struct {
		in     report.Input
		title  string
		system string
		n      int
	}{
		"records": {report.Input{Synthetic: fake, Guarantee: &g}, "Synthetic records", "", 60},
		"a generator": {report.Input{Synthetic: fake, Generator: gen}, "Synthetic records by redraw",
			"redraw", 60},
		"a title": {report.Input{Title: "Own", Synthetic: fake, Generator: gen}, "Own", "redraw", 60},
		"drawn":   {report.Input{Generator: gen}, "Synthetic records by redraw", "redraw", 30},
	} {
		s := quick()
		s.Synthetic = 30
		r, err := report.Released(t.Context(), c.in, s)
		if err != nil || r.Title != c.title || r.System != c.system || r.Sizes.Synthetic != c.n ||
			r.Sizes.Real != 0 || r.Sizes.Compared != 0 {
			t.Errorf("%s: %v, %+v", what, err, r)
		}
	}
	for _, none := range []report.Input{{Generator: synth.NewGenerator("broken", broken{redraw{fake}},
		g)},
		{Generator: gen, Title: "ended"}} {
		ctx, cancel := context.WithCancel(t.Context())
		if none.Title != "" {
			cancel()
		}
		if _, err := report.Released(ctx, none, quick()); err == nil {
			t.Error("a report of records that cannot be drawn")
		}
		cancel()
	}
	s := quick()
	s.Synthetic = 1
	if _, err := report.Released(t.Context(), report.Input{Generator: gen}, s); err == nil {
		t.Error("a report of one record")
	}
	s.Synthetic = 500 // but no more than there are real ones
	real := table(t, 20, 1)
	if r, err := report.Compute(t.Context(), report.Input{Real: real, Generator: gen},
		s); err != nil ||
		r.Sizes.Synthetic != 20 {
		t.Errorf("drawn for 20 real records: %v", err)
	}
}

// broken is a model that draws nothing.
type broken struct{ redraw }

var errBroken = errors.New("broken")

func (broken) Sampler(synth.Draw) (synth.Sampler, error) { return synth.Sampler{}, errBroken }

// TestCeilingOfReleasedFigures: a report without real records takes their number from the released
// figures.
func TestCeilingOfReleasedFigures(t *testing.T) {
	fake := table(t, 60, 3)
	figures := *released(t)
	g := ledger.Guarantee{Epsilon: 1, Delta: 1e-6}
	for n, there := range map[float64]bool{700: true, 1: true, 0.99: false, -3: false} {
		figures.Records = n
		r, err := report.Released(t.Context(), report.Input{Synthetic: fake, Guarantee: &g,
			Fidelity: &figures}, quick())
		if err != nil {
			t.Fatal(err)
		}
		if (r.Ceiling != nil) != there {
			t.Errorf("%v records: %+v", n, r.Ceiling)
		}
		if n != 700 {
			continue
		}
		want := 0.0
		for _, l := range []float64{9, 8, 8, 5, 25, 3, 2, 3} {
			want += (1 - min(1, l*float64(r.Ceiling.NoiseStd)/(math.Sqrt(math.Pi)*700))) / 8
		}
		near(t, "the ceiling", r.Ceiling.Noise, want)
	}
	figures.Records = 700
	none := ledger.Guarantee{Epsilon: 1, Delta: accountant.MinDelta / 2}
	r, err := report.Released(t.Context(), report.Input{Synthetic: fake, Guarantee: &none,
		Fidelity: &figures}, quick())
	if err != nil || r.Ceiling != nil {
		t.Errorf("a guarantee of %+v: %v", none, err)
	}
	for relation, changed := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: 8,
		accountant.ReplaceOne: 16} { // cells of eight columns
		g.Relation = relation
		r, err := report.Released(t.Context(), report.Input{Synthetic: fake, Guarantee: &g,
			Fidelity: &figures}, quick())
		if err != nil {
			t.Fatal(err)
		}
		z, _, err := accountant.CalibrateNoise(accountant.Budget{Epsilon: 1, Delta: 1e-6,
			Relation: relation}, func(z float64) accountant.Event {
			return accountant.Gaussian{NoiseMultiplier: z}
		})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "the noise", r.Ceiling.NoiseStd, z*math.Sqrt(changed))
	}
	gen := synth.NewGenerator("broken", broken{redraw{fake}}, g)
	if _, err := report.Released(t.Context(), report.Input{Synthetic: fake, Generator: gen},
		quick()); !errors.Is(err, errBroken) {
		t.Errorf("a generator that draws nothing for the ceiling: %v", err)
	}
}

// TestReleasedSets: without real records the items are those that synthetic records have most.
func TestReleasedSets(t *testing.T) {
	fake := sets(t, 400, 3)
	r, err := report.Released(t.Context(), report.Input{Synthetic: fake, Guarantee: &ledger.Guarantee{
		Epsilon: 1, Delta: 1e-6}}, quick())
	if err != nil {
		t.Fatal(err)
	}
	often := make([]float64, 40)
	for i := range fake.Len() {
		for _, item := range fake.Items(i) {
			often[item] += 1. / 400
		}
	}
	slices.Sort(often)
	slices.Reverse(often)
	if len(r.Sets.Items) != 30 || !r.Sets.MeanReal.IsNone() || !r.Sets.ItemError.Synthetic.IsNone() {
		t.Fatalf("%+v", r.Sets)
	}
	for k, b := range r.Sets.Items {
		near(t, b.Label, b.Synthetic, often[k])
		if !b.Real.IsNone() {
			t.Errorf("%s has the real share %v", b.Label, b.Real)
		}
	}
}

// TestMeanImages: the picture of the means has the mean of the images of each class.
func TestMeanImages(t *testing.T) {
	real := images(t, 300, 1)
	means, n := make([][64]float64, 3), make([]float64, 3)
	for i := range real.Len() {
		n[real.Label(i)]++
		for p, v := range real.Row(nil, i) {
			means[real.Label(i)][p] += float64(v)
		}
	}
	picture := decode(t, made()["images"](t).Images.MeanReal)
	for class := range means {
		for p, sum := range means[class] {
			want := 255 * sum / n[class]
			if got := float64(grey(picture, class*9+p%8, p/8)); math.Abs(got-want) > 1 {
				t.Fatalf("pixel %d of the mean of class %d is %v, want %v", p, class, got, want)
			}
		}
	}
}
