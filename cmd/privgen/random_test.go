package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var randomFiles = flag.Int("random", 4, "random files that go the whole way from draft to report")

// randomNames are names that columns have, and some that they should not have.
var randomNames = []string{"age", "Größe", "my col", "class", "id", "a\"b", "x,y", "select", "0",
	"1.5", "age ", "AGE", "col\nbreak", "日付", "number of", "user"}

var randomWords = []string{"red", "grün", "日本", "a b", `"q"`, "it's", "x,y", "=1+1", " lead",
	"NULL", "nan", "1e5", "true", "-", "#h", "ß", "007", "2020", "$3,400.50", "$7"}

// randomColumn returns a function that makes the texts of a column of some kind.
func randomColumn(r *rand.Rand) func() string {
	n, words := 0, randomWords[r.IntN(len(randomWords)):]
	wide := []int{2, 10, 100, 1_000_000}[r.IntN(4)]
	kinds := []func() string{
		func() string { return fmt.Sprint(r.IntN(wide)) },
		func() string { return fmt.Sprintf("%.2f", float64(wide)*r.NormFloat64()) },
		func() string { return words[r.IntN(len(words))] },
		func() string { return fmt.Sprintf("%d-%02d-%02d", 1950+r.IntN(99), 1+r.IntN(12), 1+r.IntN(28)) },
		func() string { return fmt.Sprintf("%d.%d.2020 9:%02d", 1+r.IntN(28), 1+r.IntN(12), r.IntN(60)) },
		func() string { n++; return fmt.Sprint(n) },
		func() string { return fmt.Sprintf("%02d:%02d", r.IntN(24), r.IntN(60)) },
		func() string {
			return fmt.Sprintf("%d:%02d %cM", 1+r.IntN(12), r.IntN(60), "AP"[r.IntN(2)])
		},
		func() string { return fmt.Sprintf("%d,%d", r.IntN(100), r.IntN(10)) },
		func() string { return fmt.Sprintf("%g", 1e300*r.Float64()) },
		func() string { return fmt.Sprintf("%x", r.Uint64()) },
		func() string { return "same" },
	}
	kind, missing := kinds[r.IntN(len(kinds))], []float64{0, 0, .1, .9}[r.IntN(4)]
	return func() string {
		if r.Float64() < missing {
			return ""
		}
		return kind()
	}
}

// randomCSV returns a file with a header.
func randomCSV(r *rand.Rand) string {
	columns := make([]func() string, 1+r.IntN(7))
	for j := range columns {
		columns[j] = randomColumn(r)
	}
	names := slices.Clone(randomNames)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = []rune(",,;\t|")[r.IntN(5)], r.IntN(2) == 0
	_ = w.Write(names[:len(columns)])
	for range []int{2, 20, 400, 2000}[r.IntN(4)] {
		var line []string
		for _, f := range columns {
			line = append(line, f())
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.String()
}

// TestRandomFilesGoTheWholeWay: whatever a file holds, the command drafts a schema or says why not,
// and every drafted schema can be planned, fitted, sampled, checked and reported on.
func TestRandomFilesGoTheWholeWay(t *testing.T) {
	whole := 0
	for seed := range uint64(*randomFiles) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSession(t)
			r := rand.New(rand.NewPCG(seed, 7))
			s.write("records.csv", randomCSV(r))
			drafted := s.end("draft", "records.csv", "--public", "--header", "-o", "schema.json")
			if drafted.code == exitInput { // no column, say
				s.oneLine(drafted, "records.csv")
				return
			} else if drafted.code != exitOK {
				t.Fatalf("exit code %d\n%s", drafted.code, drafted.stderr)
			}
			s.run(exitOK, "plan", "schema.json", "--records", "1000", "--anyway", "-o", "plan.json")
			fit := []string{"fit", "plan.json", "records.csv", "--ledger", "l", "-o", "out.gen",
				"--strays", "1"}
			s.run(exitOK, append(fit, "--new-ledger")...)
			s.run(exitOK, fit...)
			name := "drawn." + []string{"csv", "jsonl", "parquet", "xlsx"}[r.IntN(4)]
			s.run(exitOK, "sample", "out.gen", "-n", "50", "-o", name)
			checked := s.run(exitOK, "check", "schema.json", name).stdout
			if strings.Contains(checked, "outside") {
				t.Errorf("drawn records are outside the schema:\n%s", checked)
			}
			s.run(exitOK, "report", "out.gen", "records.csv", "-o", "report.html", "--rows", "500",
				"--strays", "1")
			s.run(exitOK, "report", "out.gen", "--publish", "--rows", "500", "-o", "public.html")
			whole++
		})
	}
	if 2*whole < *randomFiles {
		t.Errorf("only %d of %d files went the whole way", whole, *randomFiles)
	}
}
