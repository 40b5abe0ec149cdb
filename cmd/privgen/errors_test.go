package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("x: %w", accountant.ErrBudgetExceeded), exitBudget},
		{&privgen.Interrupted{Checkpoint: "c", Err: context.Canceled}, exitCancelled},
		{&privgen.Interrupted{Checkpoint: "c", Err: syscall.ENOSPC}, exitIO},
		{&fs.PathError{Op: "write", Path: "-", Err: syscall.EPIPE}, exitPipe},
		{fs.ErrInvalid, exitInternal},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, exitIO},
		{privgen.ErrTaken, exitTaken},
		{ledger.ErrRolledBack, exitLedger},
		{privgen.ErrNoise, exitNoise},
		{privgen.ErrChecksum, exitInput},
		{inputf("x"), exitInput},
		{usagef("x"), exitUsage},
		{errRefuted, exitRefuted},
		{errors.New("x"), exitInternal},
	} {
		if code := exitCode(c.err); code != c.code {
			t.Errorf("%v: got exit code %d, want %d", c.err, code, c.code)
		}
	}
	seen := map[int]bool{}
	for _, c := range exitCodes {
		if seen[c.Code] {
			t.Errorf("code %d has two meanings", c.Code)
		}
		seen[c.Code] = true
	}
}

// TestEveryKindOfErrorHasItsCode: each error that the manual names has its code, wrapped or not,
// and among several the one that says most about the budget counts.
func TestEveryKindOfErrorHasItsCode(t *testing.T) {
	path := &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}
	kinds := []struct {
		code int
		errs []error
	}{
		{exitBudget, []error{accountant.ErrBudgetExceeded, &ledger.Refusal{}}},
		{exitCancelled, []error{context.Canceled}},
		{exitPipe, []error{syscall.EPIPE, io.ErrClosedPipe}},
		{exitTaken, []error{privgen.ErrTaken, durable.ErrLocked}},
		{exitLedger, []error{ledger.ErrDamaged, ledger.ErrRolledBack, ledger.ErrOtherLedger}},
		{exitNoise, []error{privgen.ErrNoise}},
		{exitRefuted, []error{errRefuted}},
		{exitUsage, []error{usagef("x")}},
		{exitIO, []error{path, &os.LinkError{Err: syscall.EXDEV}, os.NewSyscallError("x", syscall.EIO),
			syscall.ENOSPC}},
		{exitInput, []error{inputf("x"), param.New("x", 1, "y"), &records.LimitError{},
			param.ErrTooMuch,
			json.Unmarshal([]byte("{"), new(int)), json.Unmarshal([]byte(`"x"`), new(int)),
			param.Decode([]byte(`{"x":1,"x":2}`), &map[string]int{}), records.ErrFormat, records.ErrData,
			privgen.ErrSchema, privgen.ErrRecords, privgen.ErrPlan, privgen.ErrFormat, privgen.ErrVersion,
			privgen.ErrTruncated, privgen.ErrChecksum, draft.ErrSchema, ledger.ErrNotFound,
			ledger.ErrExists, accountant.ErrUnsupported, ledger.ErrEmpty}},
		{exitInternal, []error{errors.New("x"), io.EOF, fs.ErrInvalid}},
	}
	for i, a := range kinds {
		for _, err := range a.errs {
			if got := exitCode(fmt.Errorf("x: %w", err)); got != a.code || exitCode(err) != got {
				t.Errorf("%T %v: got exit code %d, want %d", err, err, got, a.code)
			}
			for _, b := range kinds[i+1:] {
				for _, less := range b.errs {
					if got := exitCode(errors.Join(less, err)); got != a.code {
						t.Errorf("%v and %v: got exit code %d, want %d", err, less, got, a.code)
					}
				}
			}
		}
	}
	for upper, within := range map[float64]bool{0: true, 1: true, math.Nextafter(1, 2): false,
		math.Inf(1): false, math.NaN(): false} {
		r := verifyResult{Budget: 1, Spent: accountant.Bound{Upper: upper}}
		if r.within() != within {
			t.Errorf("ε = %v is within a budget of 1: %t", upper, r.within())
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	err := errors.Join(errors.New("a\x1b[2J"), errors.New("b\r"))
	if got := oneLine(err); got != "a [2J; b" {
		t.Errorf("got %q", got)
	}
}

// goName matches the name of a field or a function of the library.
var goName = regexp.MustCompile(`\b[a-z]+\.[A-Z]\w*`)

// TestMistakes: each mistake is reported on one line with its exit code, and spends nothing.
func TestMistakes(t *testing.T) {
	s := withPlan(t)
	s.write("none.csv", "")
	s.write("other.csv", "height,weight\n170,60\n")
	s.write("junk.gen", "not a generator")
	s.write("upside.json",
		`{"kind": "table", "columns": [{"name": "age", "type": "numeric", "lo": 9, "hi": 1}]}`)
	s.write("items.json", `{"kind": "sets", "universe": 9}`)
	s.write("comma.json", `{"kind": "table", , "columns": []}`)
	s.write("headless.csv", "39,Bachelors\n50,Doctorate\n28,Masters\n")
	s.write("kind.json", `{"kind": "tabel", "columns": []}`)
	s.write("type.json", `{"kind": "table", "columns": [{"name": "age", "type": "foo"}]}`)
	s.write("wide.json", `{"kind": "table", "columns": [{"name": "age", "type": "numeric"}]}`)
	fit := func(args ...string) []string {
		return append([]string{"fit", "plan.json", "people.csv", "--ledger", "people", "-o", "x.gen"},
			args...)
	}
	s.run(0, "ledger", "create", "people", "--epsilon", "0.5")
	s.run(0, "plan", "schema.json", "--records", "3000", "--relation", "replace_one", "-o",
		"replace.json")
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{exitUsage, "unknown command", []string{"fitt"}},
		{exitUsage, "unknown flag", []string{"fit", "--eps", "1"}},
		{exitUsage, "got no arguments, want 2: PLAN and RECORDS", []string{"fit", "-o", "x.gen"}},
		{exitUsage, "got 1 argument, want 2: PLAN and RECORDS", []string{"fit", "plan.json", "-o",
			"x.gen"}},
		{exitUsage, "want --public or --candidates", []string{"draft", "people.csv"}},
		{exitInput, "give --header if it holds", []string{"draft", "headless.csv", "--public"}},
		{exitInput, "--first-record if it is a record", []string{"draft", "people.csv", "--public",
			"--no-header"}},
		{exitInput, "--first-record if it is a record", []string{"fit", "plan.json", "people.csv",
			"--no-header", "--ledger", "people", "-o", "x.gen"}},
		{exitUsage, "header", []string{"draft", "people.csv", "--public", "--header", "--no-header"}},
		{exitUsage, "privgen ledger create: --epsilon: 0: want", []string{"ledger", "create", "x",
			"--epsilon", "0"}},
		{exitUsage, "--delta: 2: want", []string{"ledger", "create", "x", "--delta", "2"}},
		{exitUsage, `for "--relation" flag: foo: want`, []string{"ledger", "create", "x", "--relation",
			"foo"}},
		{exitUsage, "NAME", []string{"ledger", "show", ""}},
		{exitUsage, "--records: 9999999999999", []string{"plan", "schema.json", "--records",
			"9999999999999"}},
		{exitUsage, "--rows-per-person: 9999", []string{"plan", "schema.json", "--records", "9",
			"--rows-per-person", "9999"}},
		{exitInput, "the schema: tables of", []string{"plan", "schema.json", "--records", "999",
			"--system", "mwem"}},
		{exitInput, `upside.json: column "age": bounds: [9, 1]: want`, []string{"plan", "upside.json",
			"--records", "9"}},
		{exitInput, "items.json: max_items: 0: want", []string{"plan", "items.json", "--records", "9"}},
		{exitInput, "--comma: '\"': want", fit("--comma", `"`)},
		{exitInput, "--comment: ',': want", fit("--comment", ",")},
		{exitInput, `--names: "a" twice: want`, fit("--names", "a,b,a,c")},
		{exitInput, "--ledger: \"a/b\": want", []string{"fit", "plan.json", "people.csv", "--ledger",
			"a/b", "-o", "x.gen"}},
		{exitUsage, "--workers: 9999: want", fit("--workers", "9999")},
		{exitInput, `--label: "x": want`, []string{"draft", "people.csv", "--public", "--label", "x"}},
		{exitInput, `--target: "work": want`, []string{"draft", "people.csv", "--public", "--target",
			"work"}},
		{exitInput, `--skip: "x": want`, []string{"draft", "people.csv", "--public", "--skip", "x"}},
		{exitInput, "--max-levels: 1: want enough levels", []string{"draft", "people.csv", "--public",
			"--max-levels", "1", "--label", "income"}},
		{exitInput, "want a header or --names", []string{"draft", "people.csv", "--public",
			"--no-header", "--first-record", "--skip", "c1"}},
		{exitUsage, "--delta 0: want a number from 1e-30", []string{"draft", "people.csv",
			"--candidates", "schema.json", "--delta", "0"}},
		{exitInput, "line 1, column 19: the schema is not valid", []string{"plan", "comma.json",
			"--records", "9"}},
		{exitUsage, "got no arguments, want 1: SCHEMA", []string{"plan", "--records", "9"}},
		{exitUsage, `--unit: "foo": want record or user`, []string{"ledger", "create", "x", "--unit",
			"foo"}},
		{exitInput, `"tabel": want one of binary, interval`, []string{"plan", "kind.json", "--records",
			"9"}},
		{exitInput, `"foo": want one of numeric, integer`, []string{"plan", "type.json", "--records",
			"9"}},
		{exitUsage, "required flag", []string{"fit", "plan.json", "people.csv"}},
		{exitUsage, "--ledger", []string{"fit", "plan.json", "people.csv", "-o", "x.gen"}},
		{exitUsage, "--records", []string{"plan", "schema.json", "--records", "0"}},
		{exitUsage, "--epsilon", []string{"plan", "schema.json", "--records", "9", "--epsilon", "-1"}},
		{exitUsage, "--system", []string{"plan", "schema.json", "--records", "9", "--system", "x"}},
		{exitUsage, "--progress", fit("--progress", "loud")},
		{exitUsage, "--out", []string{"fit", "plan.json", "people.csv", "--ledger", "p", "-o", "-"}},
		{exitInput, "age", []string{"fit", "plan.json", "other.csv", "--ledger", "people", "-o",
			"x.gen"}},
		{exitInput, "none.csv", []string{"fit", "plan.json", "none.csv", "--ledger", "people", "-o",
			"x.gen"}},
		{exitInput, "wide.json", []string{"plan", "wide.json", "--records", "100"}},
		{exitInput, "plan.json", []string{"plan", "plan.json", "--records", "100"}},
		{exitInput, "schema.json", []string{"fit", "schema.json", "people.csv", "--ledger", "people",
			"-o", "x.gen"}},
		{exitInput, "junk.gen", []string{"sample", "junk.gen", "-n", "3"}},
		{exitUsage, `"abc" for "--epsilon" flag: want a number`, []string{"plan", "schema.json",
			"--records", "9", "--epsilon", "abc"}},
		{exitUsage, `"1.5" for "--records" flag: want a whole number`, []string{"plan", "schema.json",
			"--records", "1.5"}},
		{exitUsage, `NAME: "a/b": want 1 to 128 of a-z`, []string{"ledger", "create", "a/b"}},
		{exitUsage, "--delta 0: want a number from 1e-30", []string{"plan", "schema.json", "--records",
			"9", "--delta", "0"}},
		{exitUsage, "--delta 2: want a number from 1e-30", []string{"plan", "schema.json", "--records",
			"9", "--delta", "2"}},
		{exitInput, `the store has ["people"]`, []string{"ledger", "show", "other"}},
		{exitInput, "--no-header or --names", []string{"fit", "plan.json", "other.csv", "--ledger",
			"people", "-o", "x.gen"}},
		{exitInput, "nobody", []string{"ledger", "show", "nobody"}},
		{exitInput, "exists", []string{"ledger", "create", "people"}},
		{exitInput, "no ledger", []string{"fit", "plan.json", "people.csv", "--ledger", "typo", "-o",
			"x.gen"}},
		{exitBudget, "budget exceeded", fit()},
		{exitIO, "missing.csv", []string{"fit", "plan.json", "missing.csv", "--ledger", "people", "-o",
			"x.gen"}},
		{exitIO, "no/where", []string{"fit", "plan.json", "people.csv", "--ledger", "people", "-o",
			"no/where/x.gen"}},
		{exitNoise, "noise", []string{"plan", "schema.json", "--records", "3", "--epsilon", "0.01"}},
		{exitInput, "replace.json: the audit adds and removes", []string{"audit", "replace.json"}},
		{exitUsage, "--canaries: 9: want", []string{"audit", "plan.json", "--canaries", "9"}},
		{exitUsage, "--samples: 99: want", []string{"audit", "plan.json", "--samples", "99"}},
		{exitUsage, "--canaries: 1000000000: want at most 100000 records of this plan", []string{"audit",
			"plan.json", "--canaries", "1000000000"}},
		{exitUsage, "--samples: 100001: want at most 100000", []string{"audit", "plan.json", "--samples",
			"100001"}},
		{exitUsage, "--false-alarm: 0: want", []string{"audit", "plan.json", "--false-alarm", "0"}},
		{exitUsage, "--false-alarm: 1: want", []string{"audit", "plan.json", "--false-alarm", "1"}},
		{exitUsage, "--false-alarm: NaN: want", []string{"audit", "plan.json", "--false-alarm", "NaN"}},
		{exitUsage, "-n: 0: want", []string{"sample", "junk.gen", "-n", "0"}},
		{exitUsage, "--attempts: 0: want", []string{"sample", "junk.gen", "-n", "1", "--attempts",
			"0"}},
		{exitUsage, "--rows-per-person: -1: want", []string{"plan", "schema.json", "--records", "9",
			"--rows-per-person", "-1"}},
		{exitUsage, "--rows-per-person: -1: want", []string{"draft", "people.csv", "--candidates",
			"schema.json", "--rows-per-person", "-1"}},
		{exitUsage, "--rows-per-person: 100001: want", []string{"draft", "people.csv", "--candidates",
			"schema.json", "--rows-per-person", "100001"}},
		{exitUsage, "--workers: -1: want", fit("--workers", "-1")},
		{exitUsage, "--workers: 1025: want", fit("--workers", "1025")},
		{exitBudget, "budget exceeded", fit("--workers", "1024")},
		{exitUsage, "want one character", fit("--comma", "ab")},
	} {
		e := s.run(c.code, c.args...)
		s.oneLine(e, c.words)
		if e.stdout != "" {
			t.Errorf("%v: got %q on standard output, want nothing", c.args, e.stdout)
		}
		if name := goName.FindString(e.stderr); name != "" {
			t.Errorf("%v: the error has a name of the library, %q: %s", c.args, name, e.stderr)
		}
	}
	left := decode[leftResult](t, s.run(0, "ledger", "left", "people", "--json").stdout)
	if left.Spent.Upper != 0 {
		t.Errorf("the mistakes have spent ε = %v, want 0", left.Spent.Upper)
	}
}

func TestErrorsAsJSON(t *testing.T) {
	s := newSession(t)
	e := s.run(exitInput, "ledger", "show", "nobody", "--json")
	validate(t, "error", e.stderr)
	if e.stdout != "" {
		t.Errorf("got %q on standard output, want nothing", e.stdout)
	}
	for _, args := range [][]string{{"sample", "x.gen", "-n", "1"}, {"draft", "x.csv", "--public"},
		{"report", "x.gen", "x.csv", "-o", "-"}} { // their results are on standard output
		e := s.run(exitUsage, append(args, "--json")...)
		if validate(t, "error", e.stderr); !strings.Contains(e.stderr, "--json: want --out") {
			t.Errorf("%v: %s", args, e.stderr)
		}
	}
}

// TestFullDiskOnStandardOutput writes to a device that is always full.
func TestFullDiskOnStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	s := fitted(t)
	for _, args := range [][]string{{"sample", "people.gen", "-n", "5000"},
		{"guarantee", "people.gen"},
		{"ledger", "show", "people"}, {"plan", "schema.json", "--records", "3000"},
		{"--version"}, {"--help"}, {"help", "fit"}, {"completion", "bash"}} {
		c := s.command(args...)
		var stderr strings.Builder
		c.Stdout, c.Stderr = full, &stderr
		e := finish(t, c.Run(), c)
		if e.stderr = stderr.String(); e.code != exitIO {
			t.Errorf("%v: exit code %d, want %d", args, e.code, exitIO)
		}
		s.oneLine(e, "no space left")
	}
}

// TestUnknownStores checks that a store address with an unknown scheme is an error. The error must
// list the known schemes and must not repeat a password.
func TestUnknownStores(t *testing.T) {
	s := withPlan(t)
	for _, place := range []string{"mysql:x", "MySQL://me:hidden@host/x", "postgres:x",
		"p2+ssl://me:hidden@host/x", "host=here password=hidden", " password = hidden"} {
		e := s.run(exitUsage, "fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger",
			"--store", place, "-o", "x.gen")
		s.oneLine(e, "dir:FOLDER", "postgres://…")
		if strings.Contains(e.stderr, "hidden") || exists(s.path(place)) {
			t.Errorf("%s: the error shows the password, or a folder was created: %s", place, e.stderr)
		}
	}
	for place, want := range map[string]string{"ledgers": "", "./mysql:x": "", `C:\ledgers`: "",
		"a-b:c": "", "mysql:x": "mysql", "a-b://c": "a-b"} {
		if got := schemeOf(place); got != want {
			t.Errorf("the scheme of %s is %q, want %q", place, got, want)
		}
		if keysAndValues(place) || keysAndValues("./"+place+"=1") {
			t.Errorf("%s is taken for keys and values", place)
		}
	}
}

// TestLedgersAreNamedOnce checks that an error about a ledger states its name once.
func TestLedgersAreNamedOnce(t *testing.T) {
	s := withPlan(t)
	s.run(0, "ledger", "create", "people")
	for _, args := range [][]string{{"show", "nothing"}, {"verify", "nothing"}, {"create", "people"}} {
		e := s.run(exitInput, append([]string{"ledger"}, args...)...)
		if strings.Count(e.stderr, args[1]) != 1 {
			t.Errorf("%v: want the ledger's name once, got %s", args, e.stderr)
		}
	}
}

// TestClosedPipe checks the exit code if the reader of standard output closes it.
func TestClosedPipe(t *testing.T) {
	s := fitted(t)
	c := s.command("sample", "people.gen", "-n", "1000000")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	e := finish(t, c.Wait(), c)
	if e.stderr = stderr.String(); e.code != exitPipe {
		t.Errorf("exit code %d, want %d", e.code, exitPipe)
	}
	s.oneLine(e, "closed it")
}

// TestFileThatMayNotGrow: a fit that fails because a file is too large continues later at the same
// price.
func TestFileThatMayNotGrow(t *testing.T) {
	s := withShortPlan(t)
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen", "--json"}
	limited := exec.Command("sh", append([]string{"-c", `ulimit -f 16; exec "$0" "$@"`, program},
		fit...)...)
	limited.Dir, limited.Env = s.folder, append(os.Environ(), "PRIVGEN_STORE=")
	var stderr strings.Builder
	limited.Stderr = &stderr
	e := finish(t, limited.Run(), limited)
	if e.code != exitIO {
		t.Fatalf("exit code %d, want %d: %s", e.code, exitIO, stderr.String())
	}
	last := strings.TrimSpace(stderr.String())
	if last = last[strings.LastIndex(last, "\n")+1:]; !strings.Contains(last, "file too large") {
		t.Errorf("the last line is %q, want one with \"file too large\"", last)
	}
	again := decode[fitAnswer](t, s.run(0, fit...).stdout)
	limited = exec.Command("sh", "-c", `ulimit -f 16; exec "$0" sample people.gen -n 5000 -o s.csv`,
		program)
	limited.Dir = s.folder
	if e := finish(t, limited.Run(), limited); e.code != exitIO {
		t.Errorf("exit code %d, want %d", e.code, exitIO)
	}
	if exists(s.path("s.csv")) || exists(s.path("s.csv.tmp")) {
		t.Error("an incomplete file is left")
	}
	whole := decode[fitAnswer](t, withShortPlan(t).run(0, fit...).stdout)
	if again.Guarantee.Epsilon != whole.Guarantee.Epsilon {
		t.Errorf("ε = %v, want %v", again.Guarantee.Epsilon, whole.Guarantee.Epsilon)
	}
}

// TestPaidResultsOnAFullDisk: a schema that was paid for is printed if its file cannot be written,
// since no checkpoint keeps it.
func TestPaidResultsOnAFullDisk(t *testing.T) {
	s := newSession(t)
	text := `{"kind": "table", "columns": [{"name": "%s", "type": "integer", "lo": 0, "hi": 9}]}`
	name := strings.Repeat("n", 9000) // longer than the file may be
	s.write("wide.json", fmt.Sprintf(text, name))
	s.write("people.csv", name+"\n"+strings.Repeat("5\n", 1000))
	limited := exec.Command("sh", "-c", `ulimit -f 16; exec "$0" draft people.csv --candidates \
		wide.json --ledger people --new-ledger -o schema.json`, program)
	limited.Dir, limited.Env = s.folder, append(os.Environ(), "PRIVGEN_STORE=")
	var stdout, stderr strings.Builder
	limited.Stdout, limited.Stderr = &stdout, &stderr
	if e := finish(t, limited.Run(), limited); e.code != exitIO ||
		!strings.Contains(stderr.String(), "printed instead") {
		t.Errorf("exit code %d, want %d: %.300s", e.code, exitIO, stderr.String())
	}
	if _, err := records.ReadSchema(strings.NewReader(stdout.String())); err != nil {
		t.Errorf("the printed schema: %v", err)
	}
}
