package released_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/released"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

func schema(t testing.TB, more ...records.Constraint) records.Schema {
	t.Helper()
	s, err := records.NewSchema(records.Categorical("sex", "f", "m").WithMissing(),
		records.Integer("age", 0, 9), records.Numeric("income", 0, 100))
	if err != nil {
		t.Fatal(err)
	}
	return s.WithConstraints(more...)
}

// uniform is a model whose columns are independent.
type uniform struct{ s records.Schema }

func (m uniform) Schema() records.Schema     { return m.s }
func (uniform) Encode() (*synth.File, error) { return nil, errors.ErrUnsupported }

func (m uniform) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 1))
	return synth.Sampler{Schema: m.s, Next: func(n int) (records.Data, error) {
		rows := make([][]any, n)
		for i := range rows {
			sex := []any{"f", "f", "m", nil}[rng.IntN(4)]
			rows[i] = []any{sex, rng.IntN(10), float64(rng.IntN(100)), nil}[:len(m.s.Columns())]
		}
		return records.FromValues(m.s, rows...)
	}}, nil
}

func generator(s records.Schema) *synth.Generator {
	return synth.NewGenerator("uniform", uniform{s}, ledger.Guarantee{})
}

func share(f *records.Frame, what func(row int) bool) float64 {
	n := 0
	for i := range f.Len() {
		if what(i) {
			n++
		}
	}
	return float64(n) / float64(f.Len())
}

// TestPreciseTablesAreFollowed checks that tables of little noise hold in the drawn rows, together
// and also where records with some values are not counted.
func TestPreciseTablesAreFollowed(t *testing.T) {
	s := schema(t)
	m, err := released.Match(t.Context(), generator(s), []released.Table{
		{[]string{"sex", "age"}, [][]string{{"f", "m", ""}, {"0..4", "5..9"}},
			[]float64{100, 300, 200, 200, 50, 150}, 1},
		{[]string{"income"}, [][]string{{"90..100"}}, []float64{700}, 1},
	}, released.Settings{Pool: 50_000, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Sample(20_000)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		want float64
		what func(i int) bool
	}{
		"f, young": {0.1, func(i int) bool { return rows.Value(i, 0) == "f" && rows.Number(i, 1) < 5 }},
		"missing, old": {0.15, func(i int) bool {
			return rows.Value(i, 0) == "" && rows.Number(i, 1) >= 5
		}},
		"rich": {0.7, func(i int) bool { return rows.Number(i, 2) >= 90 }},
		"rich m": {0.28, func(i int) bool { // the columns stay independent
			return rows.Number(i, 2) >= 90 && rows.Value(i, 0) == "m"
		}},
	} {
		if got := share(rows, c.what); math.Abs(got-c.want) > 0.006 {
			t.Errorf("%s: %.4f, want %.4f", name, got, c.want)
		}
	}
	for _, f := range m.Fits {
		if f.Before < 0.1 || f.After > 2*f.Noise+0.001 {
			t.Errorf("%+v", f)
		}
	}
	if m.Effective < 0.1 || m.Effective > 0.6 {
		t.Errorf("effective: %v", m.Effective)
	}
}

// TestNoiseDecidesWhomToBelieve compares a single count with the minimum of the stated objective,
// found by trying many shares.
func TestNoiseDecidesWhomToBelieve(t *testing.T) {
	s := schema(t)
	for _, std := range []float64{1, 20, 60, 1e4} {
		const n, count = 1000.0, 700.0
		m, err := released.Match(t.Context(), generator(s), []released.Table{
			{[]string{"age"}, [][]string{{"0..4"}}, []float64{count}, std},
		}, released.Settings{Pool: 20_000, Seed: 5, Records: n})
		if err != nil {
			t.Fatal(err)
		}
		before := count/n - 2*m.Fits[0].Before // half the difference of one cell
		best, at := math.Inf(1), 0.0
		for p := 0.001; p < 0.9995; p += 0.0005 {
			kl := p*math.Log(p/before) + (1-p)*math.Log((1-p)/(1-before))
			if v := n*kl + math.Pow((n*p-count)/std, 2)/2; v < best {
				best, at = v, p
			}
		}
		if got := math.Abs(count/n - at); math.Abs(2*m.Fits[0].After-got) > 0.001 {
			t.Errorf("std %v: |Δ| = %.4f, want %.4f", std, 2*m.Fits[0].After, got)
		}
	}
}

func TestFormsOfFiles(t *testing.T) {
	s := schema(t)
	nan := math.NaN()
	for text, want := range map[string][]released.Table{
		`{"columns":["sex"],"values":[["m",null]],"counts":[1,-2.5],"std":3}`: {
			{[]string{"sex"}, [][]string{{"m", ""}}, []float64{1, -2.5}, 3}},
		`{"domain":{"sex":3,"age":10},"measurements":[
			{"clique":["sex"],"noisy_measurement":[1,2,3],"stddev":2}]}`: {
			{[]string{"sex"}, [][]string{{"f", "m", ""}}, []float64{1, 2, 3}, 2}},
		`[{"query_name":"sex * income","query_shape":[2,2],"value":[1,2,3,null],"variance":9}]`: {
			{[]string{"sex", "income"}, [][]string{{"f", "m"}, {"0..50", "50..100.00000000000001"}},
				[]float64{1, 2, 3, nan}, 3}},
		"\uFEFFage,count,sex,std\n3..4,7,f,2\n5,-1,m,2\n": {
			{[]string{"age", "sex"}, [][]string{{"3..4", "5"}, {"f", "m"}}, []float64{7, nan, nan, -1}, 2}},
	} {
		got, err := released.Read(strings.NewReader(text), s)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for i := range got { // NaN is not equal to itself
			for _, list := range []released.Table{got[i], want[i]} {
				for k, v := range list.Counts {
					if math.IsNaN(v) {
						list.Counts[k] = -999
					}
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", text, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	s := schema(t)
	for _, text := range []string{
		"", "{", "[1]", "a,b\n1,2\n", "sex,count,std\nf,1,2\nf,1,2\n", "sex,count,std\nf,1,2\nm,1,3\n",
		"sex,count,std\nf,NaN,2\n", "sex,count,std\nx,1,2\n", "hair,count,std\nf,1,2\n",
		"age,count,std\n1..5,1,2\n5..6,1,2\n", "age,count,std\n5..1,1,2\n", "age,count,std\nx,1,2\n",
		"age,count,std\n1,1,0\n", "age,count,std\n1,1,-1\n", "age,count,std\n1,+Inf,1\n",
		"count,std\n1,1\n", "age,age,count,std\n1,1,1,1\n",
		`{"columns":["sex"],"counts":[1,2,3],"std":1}`, `{"columns":["sex"],"counts":[1,2],"Std":1}`,
		`{"columns":["sex"],"counts":[1,2],"std":1,"scale":2}`,
		`{"columns":["age"],"counts":[1,2,3],"std":1}`,
		`{"columns":["age"],"shape":[3],"counts":[1,2,3],"std":1}`,
		`{"columns":["income"],"shape":[-3],"counts":[1,2,3],"std":1}`,
		`{"columns":["income"],"shape":[99999999],"counts":[1],"std":1}`,
		`{"columns":["sex","sex"],"counts":[1,2,3,4],"std":1}`,
	} {
		if _, err := released.Read(strings.NewReader(text), s); !errors.Is(err, released.ErrFormat) {
			t.Errorf("%s: %v", text, err)
		}
	}
	one := released.Table{Columns: []string{"age"}, Values: [][]string{{"1"}}, Counts: []float64{5},
		Std: 1}
	for _, c := range []released.Settings{{Pool: -1}, {Pool: 1 << 30}, {Records: -1},
		{Records: math.Inf(1)}, {Records: math.NaN()}} {
		if _, err := released.Match(t.Context(), generator(s), []released.Table{one}, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	many := slices.Repeat([]released.Table{one}, 200)
	if _, err := released.Match(t.Context(), generator(s), many,
		released.Settings{Pool: 1 << 19}); err == nil {
		t.Error("400 MB of cells: no error")
	}
	one.Counts[0] = -7
	if _, err := released.Match(t.Context(), generator(s), []released.Table{one},
		released.Settings{Pool: 100}); !errors.Is(err, released.ErrFormat) {
		t.Errorf("no records: %v", err)
	}
}

// TestTablesThatNoWeightsFit: tables that contradict each other far beyond their noise, and numbers
// beyond those of a float64 when squared, are errors and not rows of any weights.
func TestTablesThatNoWeightsFit(t *testing.T) {
	s := schema(t)
	for name, list := range map[string][]float64{"opposite": {1e-9, 300, 0, 0, 0, 300, 0},
		"huge counts": {1, 1e300, 1e300, -1e300}, "huge noise": {1e300, 100, 100, 100}} {
		var tables []released.Table
		for counts := range slices.Chunk(list[1:], 3) {
			tables = append(tables, released.Table{Columns: []string{"sex"},
				Values: [][]string{{"f", "m", ""}}, Counts: counts, Std: list[0]})
		}
		if _, err := released.Match(t.Context(), generator(s), tables,
			released.Settings{Pool: 500, Records: 300}); !errors.Is(err, released.ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
}

// TestUniqueRowsAreNotRepeated: a schema that wants unique rows gets them, or an error.
func TestUniqueRowsAreNotRepeated(t *testing.T) {
	s := schema(t, records.Unique("age", "income"))
	one := []released.Table{{[]string{"age"}, [][]string{{"1"}}, []float64{90}, 1}}
	m, err := released.Match(t.Context(), generator(s), one,
		released.Settings{Pool: 900, Records: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Sample(200); !errors.Is(err, released.ErrRepeated) {
		t.Errorf("200 of 900 rows, of which 90 have one age: %v", err)
	}
	if _, err := m.Sample(10); err != nil {
		t.Error(err)
	}
}

// TestSameSeedSameRows: another seed gives other rows.
func TestSameSeedSameRows(t *testing.T) {
	s := schema(t)
	one := []released.Table{{[]string{"age"}, [][]string{{"1"}}, []float64{90}, 1}}
	var drawn []string
	for _, seed := range []uint64{1, 1, 2} {
		m, err := released.Match(t.Context(), generator(s), one,
			released.Settings{Pool: 500, Records: 100, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := m.Sample(50)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := (records.CSV{}).WriteFrame(&b, rows); err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, b.String())
	}
	if drawn[0] != drawn[1] || drawn[0] == drawn[2] {
		t.Error("rows do not follow the seed")
	}
}

// TestCountsOfAbsentRecords: a table without noise may count records that the pool has none of. The
// others share their weight equally, since each count is as precise as the others.
func TestCountsOfAbsentRecords(t *testing.T) {
	text := `{"columns":["age"],"shape":[10],"std":0.001,
		"counts":[100,200,300,400,500,600,700,800,900,1000]}`
	tables, err := released.Read(strings.NewReader(text), schema(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := released.Match(t.Context(), generator(schema(t)), tables, released.Settings{Pool: 8})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Sample(550_000)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(map[float64]float64)
	for _, age := range f.Numbers(1) {
		drawn[age] += 0.01
	}
	missing := 0.0
	for age := range 10 {
		if drawn[float64(age)] == 0 {
			missing += 100 * float64(age+1)
		}
	}
	if missing == 0 {
		t.Fatal("the pool has records of all ages")
	}
	for age, n := range drawn {
		if want := 100*(age+1) + missing/float64(len(drawn)); math.Abs(n-want) > 0.1 {
			t.Errorf("%v of age %v, want %v", n, age, want)
		}
	}
	if m.Effective > 1 {
		t.Errorf("%v of the pool is effective", m.Effective)
	}
}

// TestRecordsDrawnTwiceHaveOtherIdentifiers: identifiers of a schema are unique, also if the tables
// demand that a record is drawn often.
func TestRecordsDrawnTwiceHaveOtherIdentifiers(t *testing.T) {
	s, err := records.NewSchema(append(schema(t).Columns(),
		records.Identifier("id", records.Sequence(1)))...)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := released.Read(strings.NewReader("sex,count,std\nf,100,1\nm,1900,1\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	m, err := released.Match(t.Context(), generator(s), tables,
		released.Settings{Pool: 500, Records: 2000})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Sample(2000)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i := range f.Len() {
		seen[f.Value(i, 3)] = true
	}
	if len(seen) != 2000 {
		t.Errorf("%d identifiers in 2,000 rows", len(seen))
	}
}
