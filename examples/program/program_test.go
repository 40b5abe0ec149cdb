package program_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
)

func TestMeter(t *testing.T) {
	for _, redraw := range []bool{false, true} {
		var out bytes.Buffer
		m := program.Meter{To: &out, Redraw: redraw, Every: time.Hour}
		for step := 1; step <= 3; step++ {
			m.Show(privgen.Progress{Stage: "training", Step: step, Of: 3, Epsilon: 0.5})
		}
		// the second line is too recent; the rate of the third depends on the machine
		got := regexp.MustCompile(`, [^ ]*/s, 0s left`).ReplaceAllString(out.String(), ", RATE")
		want := "training: 1 of 3, ε ≤ 0.5 so far\ntraining: 3 of 3, RATE, ε ≤ 0.5 so far\n"
		if redraw {
			want = "\rtraining: 1 of 3, ε ≤ 0.5 so far\x1b[K\rtraining: 3 of 3, RATE, ε ≤ 0.5 so far\x1b[K\n"
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHelpFitsTheScreen(t *testing.T) {
	var out bytes.Buffer
	f := program.NewFlags("x")
	f.SetOutput(&out)
	f.Int("n", 7, strings.Repeat("word ", 40))
	f.Bool("quick", false, "leave something out")
	if err := f.Parse([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("err = %v, want flag.ErrHelp", err)
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 101 {
			t.Errorf("a line of %d columns, want at most 100: %s", len(line)-1, line)
		}
	}
	for _, words := range []string{"  -n int\n", "(default 7)\n",
		"  -quick\n        leave something out\n"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("the help does not contain %q:\n%s", words, &out)
		}
	}
}

// TestHelpIsNoError checks exit codes of Main, which it runs in a separate process.
func TestHelpIsNoError(t *testing.T) {
	const env = "PRIVGEN_TEST_PROGRAM"
	if args := os.Getenv(env); args != "" {
		os.Args = strings.Fields(args)
		program.Main("x", func(_ context.Context, args []string) error {
			return program.NewFlags("x").Parse(args)
		})
		os.Exit(0)
	}
	for args, code := range map[string]int{"x -h": 0, "x -help": 0, "x": 0, "x -z": 1} {
		c := exec.Command(os.Args[0], "-test.run=^TestHelpIsNoError$")
		c.Env = append(os.Environ(), env+"="+args)
		if c.Run(); c.ProcessState.ExitCode() != code {
			t.Errorf("%s: exit code %d, want %d", args, c.ProcessState.ExitCode(), code)
		}
	}
}

// TestExamplesShareTheirFrame: no example writes carriage returns or creates flag sets itself. So
// the tests of this package apply to all examples.
func TestExamplesShareTheirFrame(t *testing.T) {
	examples, err1 := filepath.Glob("../*/main.go")
	studies, err2 := filepath.Glob("../../lab/studies/*/*.go")
	if len(examples) < 10 || len(studies) < 30 {
		t.Fatalf("found %d and %d files, want at least 10 and 30: %v", len(examples), len(studies),
			errors.Join(err1, err2))
	}
	for _, file := range append(examples, studies...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{`\r`, "flag.NewFlagSet", "flag.Parse()"} {
			if strings.Contains(string(text), own) {
				t.Errorf("%s contains %s: want package program to do this", file, own)
			}
		}
	}
}

func TestBudgetFlags(t *testing.T) {
	var b accountant.Budget
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	program.BudgetFlags(f, &b, 4, 1e-5)
	if err := f.Parse([]string{"-epsilon", "2", "-relation", accountant.ReplaceOne.String()}); err !=
		nil {
		t.Fatal(err)
	}
	if want := (accountant.Budget{Epsilon: 2, Delta: 1e-5, Relation: accountant.ReplaceOne}); b !=
		want {
		t.Errorf("got %+v, want %+v", b, want)
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := program.Save(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "text")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "text" {
		t.Errorf("the file contains %q, want \"text\"", got)
	}
	broken := errors.New("broken")
	if err := program.Save(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("err = %v, want the error of write", err)
	}
}
