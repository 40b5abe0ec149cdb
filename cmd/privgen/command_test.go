package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// program is the path of the command, built as users build it.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withProgram(m.Run))
}

func withProgram(do func() int) int {
	folder, err := os.MkdirTemp("", "privgen-command")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "privgen")
	build := exec.Command("go", "build", "-o", program, ".")
	// reading GOFLAGS makes go test cache results separately for each value of it
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS"))
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return do()
}

// session is a working folder for commands.
type session struct {
	*testing.T
	folder string
	stdin  string
}

func newSession(t *testing.T) *session { return &session{T: t, folder: t.TempDir()} }

// ended is the result of a command.
type ended struct {
	stdout, stderr string
	code           int
}

func (s *session) command(args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = s.folder
	c.Env = append(os.Environ(), "PRIVGEN_STORE=")
	c.Stdin = strings.NewReader(s.stdin)
	return c
}

// run runs the command and fails the test unless it ends with the exit code.
func (s *session) run(code int, args ...string) ended {
	s.Helper()
	out := s.end(args...)
	if out.code != code {
		s.Fatalf("privgen %s: exit code %d, want %d\n%s", strings.Join(args, " "), out.code, code,
			out.stderr)
	}
	return out
}

// end runs the command, which may end with any exit code.
func (s *session) end(args ...string) ended {
	s.Helper()
	var stdout, stderr bytes.Buffer
	c := s.command(args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	out := finish(s.T, c.Run(), c)
	out.stdout, out.stderr = stdout.String(), stderr.String()
	if strings.ContainsRune(out.stdout+out.stderr, '\r') {
		s.Errorf("privgen %s: prints a carriage return without a terminal", strings.Join(args, " "))
	}
	return out
}

func finish(t *testing.T, err error, c *exec.Cmd) ended {
	t.Helper()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{code: c.ProcessState.ExitCode()}
}

// oneLine checks that the error message of a failure is one line and contains the given words.
func (s *session) oneLine(e ended, words ...string) {
	s.Helper()
	line := e.stderr
	for strings.HasPrefix(line, "note: ") { // a note may wrap
		_, line, _ = strings.Cut(line, "\n")
		for strings.HasPrefix(line, "    ") {
			_, line, _ = strings.Cut(line, "\n")
		}
	}
	if strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "privgen") {
		s.Errorf("got %q, want one line", e.stderr)
	}
	for _, w := range words {
		if !strings.Contains(line, w) {
			s.Errorf("%q is missing in %q", w, line)
		}
	}
}

func (s *session) path(name string) string { return filepath.Join(s.folder, name) }

func (s *session) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s *session) read(name string) string {
	s.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// people writes a generated table of n records, which depends only on the seed.
func (s *session) people(name string, n int, seed uint64) {
	s.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write([]string{"age", "work", "hours", "income"})
	for range n {
		age := 17 + rng.IntN(60)
		work := []string{"private", "self", "state", "none"}[min(rng.IntN(6), 3)]
		hours := 20 + rng.IntN(41)
		income := "low"
		if float64(age)/77+float64(hours)/120+rng.Float64() > 1.5 {
			income = "high"
		}
		w.Write([]string{fmt.Sprint(age), work, fmt.Sprint(hours), income})
	}
	w.Flush()
	s.write(name, b.String())
}

const peopleSchema = `{"kind": "table", "columns": [
	{"name": "age", "type": "integer", "lo": 17, "hi": 90},
	{"name": "work", "type": "categorical", "levels": ["private", "self", "state", "none"]},
	{"name": "hours", "type": "integer", "lo": 0, "hi": 99},
	{"name": "income", "type": "label", "levels": ["low", "high"]}]}
`

// withPlan returns a session with records, a schema and a plan.
func withPlan(t *testing.T, flags ...string) *session {
	t.Helper()
	s := newSession(t)
	s.people("people.csv", 3000, 1)
	s.write("schema.json", peopleSchema)
	s.run(0, append([]string{"plan", "schema.json", "--records", "3000", "-o", "plan.json"},
		flags...)...)
	return s
}

// withShortPlan is withPlan with a plan whose generator is trained very briefly.
func withShortPlan(t *testing.T) *session {
	t.Helper()
	s := newSession(t)
	s.people("people.csv", 3000, 1)
	s.write("schema.json", peopleSchema)
	schema, err := openSchema(s.path("schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(3000).
		Train(merf.GeneratorConfig{Steps: 60}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	s.write("plan.json", string(text))
	return s
}

// fitted returns a session with a generator.
func fitted(t *testing.T) *session {
	t.Helper()
	s := withShortPlan(t)
	s.run(0, "fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen")
	return s
}
