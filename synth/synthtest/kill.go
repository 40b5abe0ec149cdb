package synthtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/synth"
)

// childVariable holds the folder in which a child process runs.
const childVariable = "PRIVGEN_SYNTHTEST_CHILD"

// Kill runs the subject in child processes and kills them at random moments, kills times in total.
// The processes record all draws in a file separate from the checkpoint. Kill checks that the
// processes draw only reserved uses, and no noise twice. Every restart must resume the run, and no
// other files may be left. A child process runs the test function that calls Kill or [Race] from
// its beginning. That test function must call Kill or Race every time it runs, and for one subject
// only.
func Kill(t *testing.T, s Subject, kills int) {
	t.Helper()
	s.inChild(t)
	rng := rand.New(rand.NewPCG(uint64(kills), 0x6b696c6c))
	whole := s.timed(t)
	for left := kills; left > 0; {
		c := newCase(t)
		for {
			cmd := c.start(t)
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(whole)+1)), func() {
				_ = cmd.Process.Kill()
			})
			err := cmd.Wait()
			if timer.Stop(); err == nil {
				break
			}
			if !killed(err) {
				t.Fatalf("a restart does not continue the run: %v\n%s", err, c.output())
			}
			if left--; left <= 0 {
				whole = time.Hour // so that the last run can finish
			}
		}
		s.checkTrace(t, c)
	}
}

// Race starts three processes on one checkpoint in each of several rounds. At least one process
// must complete, and together the processes must draw no more than was reserved.
func Race(t *testing.T, s Subject, rounds int) {
	t.Helper()
	s.inChild(t)
	for range rounds {
		c := newCase(t)
		var all []*exec.Cmd
		for range 3 {
			all = append(all, c.start(t))
		}
		complete := 0
		for _, cmd := range all {
			if cmd.Wait() == nil {
				complete++
			}
		}
		if complete == 0 {
			t.Fatalf("none of three runs completes:\n%s", c.output())
		}
		s.checkTrace(t, c)
	}
}

func killed(err error) bool {
	var e *exec.ExitError
	return errors.As(err, &e) && e.ExitCode() == -1
}

// inChild carries out the run and ends the process if it is a child process.
func (s Subject) inChild(t *testing.T) {
	folder := os.Getenv(childVariable)
	if folder == "" {
		return
	}
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	trace, err := os.OpenFile(filepath.Join(folder, "trace"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	ctx := entropy.WithTap(context.Background(), &tracer{file: trace})
	_, err = p.FitOn(ctx, ledger.New(p.Budget()), data,
		synth.Checkpoint(filepath.Join(folder, "run", "checkpoint")))
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(0)
}

// tracer records every use taken and all noise drawn. The noise comes from real random keys.
type tracer struct{ file *os.File }

func (tracer) Source() (*entropy.Source, error) { return entropy.New() }
func (tracer) Sample(entropy.Sample)            {}
func (tracer) Refuse(string, error)             {}

func (r tracer) Spend(purpose string, _ any, count int, err error) {
	if count == 0 && err == nil && r.file != nil { // one use of a reservation is taken
		fmt.Fprintf(r.file, "use\t%s\n", purpose)
	}
}

func (r tracer) Release(rel *entropy.Release) error {
	var noise []float64
	for i, out := range rel.Outputs {
		for j, v := range out {
			noise = append(noise, v-rel.Inputs[i][j])
		}
	}
	_, err := fmt.Fprintf(r.file, "noise\t%s\t%d\t%x\n", rel.Purpose, len(noise),
		sha256.Sum256(fmt.Append(nil, noise)))
	return err
}

// A killCase is a folder with the record of all draws and a subfolder with a checkpoint.
type killCase struct{ folder string }

func newCase(t *testing.T) killCase {
	t.Helper()
	c := killCase{tempDir(t)}
	if err := os.Mkdir(filepath.Join(c.folder, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c killCase) start(t *testing.T) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+strings.Split(t.Name(), "/")[0]+"$")
	cmd.Env = append(os.Environ(), childVariable+"="+c.folder)
	out, err := os.OpenFile(filepath.Join(c.folder, "output"),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	return cmd
}

func (c killCase) output() string {
	text, _ := os.ReadFile(filepath.Join(c.folder, "output"))
	return string(text)
}

// timed returns the running time of a child process that is not killed.
func (s Subject) timed(t *testing.T) time.Duration {
	c := newCase(t)
	begin := time.Now()
	if err := c.start(t).Wait(); err != nil {
		t.Fatalf("%v\n%s", err, c.output())
	}
	took := time.Since(begin)
	s.checkTrace(t, c)
	return took
}

// checkTrace checks the recorded draws against the plan's reservation, and that no noise repeats.
func (s Subject) checkTrace(t *testing.T, c killCase) {
	t.Helper()
	p, _ := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	reserved := map[string]int{}
	for _, stage := range p.Stages() {
		if reserved[stage.Purpose] = stage.Count * max(stage.Parts, 1); stage.Once {
			reserved[stage.Purpose] = 8 // shares
		}
	}
	file := must(os.Open(filepath.Join(c.folder, "trace")))(t)
	defer file.Close()
	drawn, seen := map[string]int{}, map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		switch {
		case f[0] == "use" && len(f) == 2:
			drawn[f[1]]++
		case f[0] == "noise" && len(f) == 4 && f[2] != "1": // a single number may repeat by chance
			if seen[f[3]] {
				t.Errorf("%s: the same noise was drawn twice", f[1])
			}
			seen[f[3]] = true
		}
	}
	for purpose, n := range drawn {
		if n > reserved[purpose] {
			t.Errorf("%s: %d drawn of %d reserved", purpose, n, reserved[purpose])
		}
	}
	if len(drawn) == 0 {
		t.Error("nothing was drawn")
	}
	if files, _ := filepath.Glob(filepath.Join(c.folder, "run", "*")); len(files) != 1 {
		t.Errorf("got the files %v, want the checkpoint only", files)
	}
}
