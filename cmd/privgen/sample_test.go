package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestSamplesAreTheLibrarys checks that a sample in any format has the library's records of the
// same seed.
func TestSamplesAreTheLibrarys(t *testing.T) {
	s := fitted(t)
	gen, err := privgen.LoadFile(s.path("people.gen"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 2500 // more than two chunks
	drawn, err := gen.Sample(context.Background(), n, privgen.Seed(7))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := (records.CSV{Header: true}).WriteFrame(&want, drawn.(*records.Frame)); err != nil {
		t.Fatal(err)
	}
	printed := s.run(0, "sample", "people.gen", "-n", "2500", "--seed", "7").stdout
	if printed != want.String() {
		t.Error("CSV on standard output differs from CSV in a file")
	}
	for _, name := range []string{"s.csv", "s.jsonl", "s.parquet", "s.npz"} {
		s.run(0, "sample", "people.gen", "-n", "2500", "--seed", "7", "-o", name)
		if name == "s.npz" {
			var npz bytes.Buffer
			if err := records.WriteNPZ(&npz, drawn.(*records.Frame).Encoded()); err != nil {
				t.Fatal(err)
			}
			if s.read(name) != npz.String() {
				t.Error("npz differs from what the library writes")
			}
			continue
		}
		f := s.frame(name, gen.Schema())
		var got bytes.Buffer
		if err := (records.CSV{Header: true}).WriteFrame(&got, f); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("the records of %s differ from those that the library draws", name)
		}
	}
}

func (s *session) frame(name string, schema records.Schema) *records.Frame {
	s.Helper()
	var f *records.Frame
	var err error
	switch path := s.path(name); {
	case strings.HasSuffix(name, ".csv"):
		f, err = records.CSV{Header: true}.OpenFrame(path, schema)
	case strings.HasSuffix(name, ".jsonl"):
		var file *os.File
		if file, err = os.Open(path); err == nil {
			defer file.Close()
			f, err = records.JSONLines{}.ReadFrame(file, schema)
		}
	default:
		f, err = parquet.OpenFrame(path, schema)
	}
	if err != nil {
		s.Fatal(err)
	}
	return f
}

// TestSamplesOfConditions: every record has the class and meets the conditions, and the number of
// records is the requested one.
func TestSamplesOfConditions(t *testing.T) {
	s := fitted(t)
	s.run(0, "sample", "people.gen", "-n", "1500", "--class", "high", "--where", "age>=40", "--where",
		"hours<=50", "--where", "work=private", "-o", "s.csv")
	schema, err := openSchema(s.path("schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	f := s.frame("s.csv", schema)
	if f.Len() != 1500 {
		t.Errorf("got %d records, want 1500", f.Len())
	}
	for i := range f.Len() {
		if f.Number(i, 0) < 40 || f.Number(i, 2) > 50 || f.Value(i, 1) != "private" ||
			f.Value(i, 3) != "high" {
			t.Fatalf("record %d does not meet all conditions", i)
		}
	}
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "--where", "age>=91"), "age")
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "--where", "age>=89", "--where",
		"hours<=1", "--attempts", "2"), "--attempts")
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "--where", "work=idle"), "idle")
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "--where", "height>=1"),
		`of the columns ["age"`)
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "--class", "middle"), "low")
}

// TestSeeds: the same seed repeats a draw, and draws without a seed differ.
func TestSeeds(t *testing.T) {
	s := fitted(t)
	draw := func(more ...string) string {
		return s.run(0, append([]string{"sample", "people.gen", "-n", "100"}, more...)...).stdout
	}
	if first := draw("--seed", "0"); draw("--seed", "0") != first {
		t.Error("two draws with the same seed differ")
	}
	if first := draw(); draw() == first { // two seeds of 64 bits are equal with probability 2^-64
		t.Error("two draws without a seed are equal")
	}
}

// TestSamplesAreStreamed: a million records take about the same memory as a thousand.
func TestSamplesAreStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("draws a million records")
	}
	s := fitted(t)
	memory := func(n int) int64 {
		c := s.command("sample", "people.gen", "-n", strconv.Itoa(n), "-o", os.DevNull)
		if e := finish(t, c.Run(), c); e.code != 0 {
			t.Fatalf("sample ends with exit code %d, want 0", e.code)
		}
		usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			t.Skip("the system does not report the memory of a process")
		}
		return int64(usage.Maxrss)
	}
	few, many := memory(1000), memory(1_000_000)
	if many > 2*few {
		t.Errorf("a thousand records take %d KiB, a million records %d KiB", few, many)
	}
}

// TestRecordsOnStandardInput: a fit can read the records from a pipe instead of a file.
func TestRecordsOnStandardInput(t *testing.T) {
	s := withShortPlan(t)
	s.stdin = s.read("people.csv")
	s.run(0, "fit", "plan.json", "-", "--ledger", "people", "--new-ledger", "-o", "people.gen")
	s.run(0, "sample", "people.gen", "-n", "10")
	s.stdin = "age,work\n1,self\n"
	s.oneLine(s.run(exitInput, "fit", "plan.json", "-", "--ledger", "b", "-o", "b.gen"),
		"standard input")
}

// TestInputFormats: the same records in other formats are read without any value outside the
// schema.
func TestInputFormats(t *testing.T) {
	s := fitted(t)
	s.run(0, "sample", "people.gen", "-n", "2000", "-o", "a.jsonl")
	s.run(0, "sample", "people.gen", "-n", "2000", "-o", "a.parquet")
	s.run(0, "ledger", "create", "b", "--epsilon", "9")
	for _, name := range []string{"a.jsonl", "a.parquet"} {
		e := s.run(0, "fit", "plan.json", name, "--ledger", "b", "-o", name+".gen")
		if strings.Contains(e.stderr, "outside the schema") {
			t.Errorf("%s: the fit reports values outside the schema: %s", name, e.stderr)
		}
	}
	compressed := exec.Command("gzip", "-k", s.path("people.csv"))
	if err := compressed.Run(); err == nil {
		s.run(0, "fit", "plan.json", "people.csv.gz", "--ledger", "b", "-o", "gz.gen")
	}
	s.oneLine(s.run(exitInput, "fit", "plan.json", "people.npz", "--ledger", "b", "-o", "x.gen"),
		"cannot hold records of this schema")
}

// TestOutputFormats checks the format of output files. A file name without the extension of a
// format is an error unless --format names the format.
func TestOutputFormats(t *testing.T) {
	s := fitted(t)
	for _, name := range []string{"a.xyz", "a.xyz.gz", "a.png"} {
		s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "10", "-o", name), "csv, xlsx, jsonl")
	}
	s.run(0, "sample", "people.gen", "-n", "10", "-o", "a.xyz", "--format", "csv")
	s.run(0, "sample", "people.gen", "-n", "10", "-o", "a")
	if s.read("a.xyz") == "" || s.read("a") == "" {
		t.Error("an empty file")
	}
}

// TestStraysAreTold checks that clamped values are counted for the owner, only on standard error.
func TestStraysAreTold(t *testing.T) {
	s := withShortPlan(t)
	s.write("people.csv", s.read("people.csv")+"200,private,40,low\nx,idle,40,low\n30,self,40,low\n")
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen", "--json"}
	e := s.run(0, fit...)
	text := strings.Join(strings.Fields(e.stderr), " ")
	if !strings.Contains(text, "do not publish") ||
		!strings.Contains(text, "column age in 2, column work in 1 of 3003 records") {
		t.Errorf("got standard error %q, want the counts of clamped values", e.stderr)
	}
	validate(t, "fit", e.stdout)
	if e := s.run(0, append(fit, "--quiet")...); e.stderr != "" {
		t.Errorf("with --quiet: got %q on standard error, want nothing", e.stderr)
	}
}

// TestPersonsOfSeveralRows: a fit by person reads the person of each row, and its guarantee
// protects persons. A ledger of records refuses the plan.
func TestPersonsOfSeveralRows(t *testing.T) {
	s := newSession(t)
	s.people("people.csv", 3000, 1)
	var visits strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(s.read("people.csv")), "\n") {
		name := "who"
		if i > 0 {
			name = strconv.Itoa(i / 2)
		}
		visits.WriteString(name + "," + line + "\n")
	}
	s.write("visits.csv", visits.String())
	s.write("schema.json", peopleSchema)
	s.run(0, "plan", "schema.json", "--records", "1500", "--rows-per-person", "2", "-o", "plan.json")
	fit := []string{"fit", "plan.json", "visits.csv", "--ledger", "people", "-o", "people.gen"}
	s.oneLine(s.run(exitUsage, fit...), "--person")
	s.run(0, "ledger", "create", "rows")
	s.oneLine(s.run(exitInput, "fit", "plan.json", "visits.csv", "--ledger", "rows", "--person", "who",
		"-o", "x.gen"), "plan is for persons")
	e := s.run(0, append(fit, "--person", "who", "--new-ledger", "--json")...)
	validate(t, "fit", e.stdout)
	r := decode[fitResult](t, e.stdout)
	if r.Guarantee.Unit != records.UnitUser || r.Guarantee.RowsPerUnit != 2 {
		t.Errorf("the guarantee is for a %s of %d rows", r.Guarantee.Unit, r.Guarantee.RowsPerUnit)
	}
	s.run(0, "sample", "people.gen", "-n", "10")
	s.ofPersons()
	s.run(0, "plan", "schema.json", "--records", "3000", "-o", "rows.json")
	s.reportOfPersons()
	s.oneLine(s.run(exitInput, "compare", "visits.csv", "plan.json", "rows.json", "--ledger", "people",
		"--person", "who", "-o", "out"), "rows per person")
	s.oneLine(s.run(exitInput, "compare", "visits.csv", "plan.json", "--ledger", "none",
		"--person", "who", "-o", "out"), "a budget for all plans together")
	s.oneLine(s.run(exitUsage, "fit", "rows.json", "visits.csv", "--ledger", "rows", "--person", "who",
		"-o", "y.gen"), "protects single rows")
}

// reportOfPersons reports on a generator of persons. Without --person it compares single rows. A
// plan for single rows is refused.
func (s *session) reportOfPersons() {
	report := []string{"report", "people.gen", "visits.csv", "--rows", "200", "--train", "100", "-o",
		"r.html"}
	s.run(0, append(report, "--person", "who", "--plan", "plan.json")...)
	if !strings.Contains(s.read("r.html"), "persons. Rows are compared") {
		s.Error("the report does not say that the real records are rows of persons")
	}
	s.oneLine(s.run(exitInput, append(report, "--person", "nobody")...), "nobody")
	s.oneLine(s.run(exitInput, append(report, "--plan", "rows.json")...),
		"the plan protects single rows: want")
}

// ofPersons drafts a schema and releases figures on ledgers of persons.
func (s *session) ofPersons() {
	draft := []string{"draft", "visits.csv", "--candidates", "schema.json", "--ledger", "drafts",
		"--new-ledger", "--epsilon", "1"}
	persons := append(draft, "--rows-per-person", "2", "-o", "drafted.json")
	s.oneLine(s.run(exitUsage, persons...), "--person")
	e := s.run(0, append(persons, "--person", "who", "--json")...)
	validate(s.T, "draft", e.stdout)
	if r := decode[draftResult](s.T, e.stdout); r.Guarantee.Unit != records.UnitUser ||
		r.Guarantee.RowsPerUnit != 2 {
		s.Errorf("the draft protects a %s of %d rows", r.Guarantee.Unit, r.Guarantee.RowsPerUnit)
	}
	s.run(0, "plan", "drafted.json", "--records", "1500", "-o", "drafted-plan.json")
	s.oneLine(s.run(exitInput, append(draft, "-o", "other.json")...), "user")
	s.oneLine(s.run(exitUsage, append(draft, "--person", "who", "-o", "other.json")...),
		"protects single rows")
	s.oneLine(s.run(exitUsage, "draft", "visits.csv", "--public", "--rows-per-person", "2"),
		"--rows-per-person")

	s.run(0, "ledger", "create", "figures", "--unit", records.UnitUser, "--delta", "1e-5")
	figures := []string{"fidelity", "people.gen", "visits.csv", "--ledger", "figures", "-n", "500",
		"-o", "figures.json"}
	s.oneLine(s.run(exitUsage, figures...), "--person")
	e = s.run(0, append(figures, "--person", "who", "--json")...)
	validate(s.T, "fidelity", e.stdout)
	if r := decode[fidelityResult](s.T, e.stdout); r.Guarantee.Unit != records.UnitUser ||
		r.Guarantee.RowsPerUnit != 2 {
		s.Errorf("the figures protect a %s of %d rows", r.Guarantee.Unit, r.Guarantee.RowsPerUnit)
	}
	figures[4] = "rows"
	figures[8] = "others.json"
	s.oneLine(s.run(exitInput, append(figures, "--person", "who")...), "UnitUser")
}

// TestSamplesOfImagesAreAPicture checks that a sample of images as png is the library's picture of
// the same draw. Rows of a table cannot be written as png.
func TestSamplesOfImagesAreAPicture(t *testing.T) {
	s := fitted(t)
	s.oneLine(s.run(exitUsage, "sample", "people.gen", "-n", "2", "--format", "png"), "format")
	schema := records.Image(8, 8).WithLabels("a", "b")
	data, err := records.FromFlat(schema, make([]float32, 64*4), 0, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).
		Embed(merf.Config{Features: 20}).Train(merf.GeneratorConfig{Steps: 2, Batch: 4}).
		Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	if err := gen.SaveFile(s.path("images.gen")); err != nil {
		t.Fatal(err)
	}
	s.run(0, "sample", "images.gen", "-n", "40", "--seed", "3", "-o", "s.png")
	drawn, err := gen.Sample(t.Context(), 40, privgen.Seed(3))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := images.WritePNG(&want, drawn.(*records.Table), acrossPicture); err != nil {
		t.Fatal(err)
	}
	if s.read("s.png") != want.String() {
		t.Error("the picture differs from what the library writes")
	}
}

// TestEverySystemWritesItsImages checks that samples of every system for images are written as a
// picture and as npz. The npz file has the generator's labels, except for DPGM, which models no
// labels.
func TestEverySystemWritesItsImages(t *testing.T) {
	s := withShortPlan(t)
	schema := records.Image(4, 4).WithLabels("a", "b")
	flat, labels := make([]float32, 16*40), make([]int32, 40)
	for i := range labels {
		labels[i] = int32(i % 2)
		for j := range 8 {
			flat[16*i+8*(i%2)+j] = 1
		}
	}
	data, err := records.FromFlat(schema, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2, Optimizer: sgd.Adam(1e-2)}
	merfs := privgen.MERF(schema, budget).Embed(merf.Config{Features: 20}).
		Train(merf.GeneratorConfig{Steps: 2, Batch: 4})
	chains := map[string]interface {
		Fit(context.Context, records.Data, ...privgen.Option) (*privgen.Generator, error)
	}{
		"merf": merfs,
		"mix": privgen.Mix(schema, budget).Mixtures(mix.Config{Mixtures: 20, ClipNorm: 4,
			Sampling: mix.Poisson{Nominal: 40, Degree: 4}}),
		"gan": privgen.GAN(schema, budget).Critic(models.MLP{Hidden: []int{4}}).
			Generator(models.MLP{Hidden: []int{4}}, 2).Train(gan.Config{Train: train}),
		"dpgm": privgen.DPGM(schema, budget).Cluster(kmeans.Config{K: 1}).
			Model(models.VAE{Hidden: []int{4}, Latent: 2}).Train(train),
	}
	for name, chain := range chains {
		gen, err := chain.Fit(t.Context(), data)
		if err != nil {
			t.Fatalf("fitting %s: %v", name, err)
		}
		if err := gen.SaveFile(s.path(name + ".gen")); err != nil {
			t.Fatal(err)
		}
		drawn, err := gen.Sample(t.Context(), 10, privgen.Seed(3))
		if err != nil {
			t.Fatal(err)
		}
		if labelled := drawn.Schema().Classes() == 2; labelled == (name == "dpgm") {
			t.Errorf("%s: the samples have labels: %v; want labels except for dpgm", name, labelled)
		}
		for suffix, write := range map[string]func(io.Writer, *records.Table) error{
			".npz": records.WriteNPZ,
			".png": func(w io.Writer, r *records.Table) error {
				return images.WritePNG(w, r, acrossPicture)
			}} {
			s.run(0, "sample", name+".gen", "-n", "10", "--seed", "3", "-o", name+suffix)
			var want bytes.Buffer
			if err := write(&want, drawn.(*records.Table)); err != nil {
				t.Fatal(err)
			}
			if s.read(name+suffix) != want.String() {
				t.Errorf("%s%s differs from what the library writes", name, suffix)
			}
		}
	}
}

// numbered is a part of records that knows its number.
type numbered struct {
	records.Data
	number int
}

// TestDrawnAhead: records that are drawn ahead arrive in order and with their error, and when the
// writer stops early, the drawing has ended.
func TestDrawnAhead(t *testing.T) {
	ended, failed := 0, errors.New("no more records")
	parts := func(yield func(records.Data, error) bool) {
		defer func() { ended++ }()
		for i := range 100 {
			if !yield(numbered{number: i}, nil) {
				return
			}
		}
		yield(nil, failed)
	}
	next := 0
	for part, err := range ahead(parts) {
		if next == 100 && err == failed {
			break
		}
		if err != nil || part.(numbered).number != next {
			t.Fatalf("part %d: %v, %v", next, part, err)
		}
		next++
	}
	for part := range ahead(parts) {
		if part.(numbered).number == 3 {
			break
		}
	}
	if next != 100 || ended != 2 {
		t.Errorf("%d parts, and the drawing ended %d times", next, ended)
	}
}
