package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fitAnswer has the parts of a fit's JSON that tests read.
type fitAnswer struct {
	Guarantee struct {
		Epsilon float64 `json:"epsilon"`
		Entries []struct {
			Reserved int `json:"reserved"`
		} `json:"entries"`
	} `json:"guarantee"`
}

func decode[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("decoding JSON: %v in %s", err, text)
	}
	return out
}

// await waits up to a minute for a file, since a slow machine may take long to begin a run.
func (s *session) await(name string) {
	s.Helper()
	for begun := time.Now(); !exists(s.path(name)); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			s.Fatalf("%s does not exist after a minute", name)
		}
	}
}

// TestKilledFitGoesOn kills a fit repeatedly. The same command finishes the fit and pays once.
func TestKilledFitGoesOn(t *testing.T) {
	s := withPlan(t, "--system", "dpgm")
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen", "--json"}
	kills := 0
	for delay := 5 * time.Millisecond; kills < 4; delay *= 3 {
		c := s.command(fit...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.await("people.gen.ckpt")
		time.Sleep(delay)
		c.Process.Kill()
		if c.Wait() == nil {
			break // the run ended before it could be killed
		}
		kills++
		if exists(s.path("people.gen")) {
			t.Fatal("a killed run left a generator")
		}
	}
	if kills == 0 {
		t.Fatal("no run was killed")
	}
	killed := decode[fitAnswer](t, s.run(0, fit...).stdout)

	other := withPlan(t, "--system", "dpgm")
	whole := decode[fitAnswer](t, other.run(0, fit...).stdout)
	if killed.Guarantee.Epsilon != whole.Guarantee.Epsilon {
		t.Errorf("got ε = %v after %d kills, want %v as without kills", killed.Guarantee.Epsilon, kills,
			whole.Guarantee.Epsilon)
	}
	if a, b := killed.Guarantee.Entries, whole.Guarantee.Entries; len(a) != len(b) {
		t.Errorf("got %d lines on the ledger, want %d", len(a), len(b))
	}
	// repeating the finished run's command writes the same generator and spends nothing
	draw := []string{"sample", "people.gen", "-n", "200", "--seed", "1"}
	before := s.run(0, draw...).stdout
	if err := os.Remove(s.path("people.gen")); err != nil {
		t.Fatal(err)
	}
	again := decode[fitAnswer](t, s.run(0, fit...).stdout)
	if again.Guarantee.Epsilon != whole.Guarantee.Epsilon {
		t.Errorf("repeating the command after the end changes ε to %v", again.Guarantee.Epsilon)
	}
	if s.run(0, draw...).stdout != before {
		t.Error("repeating the command after the end makes another generator")
	}
}

// TestInterruptedFit: an interrupt ends a run between two steps, with its own exit code.
func TestInterruptedFit(t *testing.T) {
	s := withPlan(t, "--system", "merf")
	fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen"}
	var stderr strings.Builder
	c := s.command(fit...)
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.await("people.gen.ckpt")
	time.Sleep(500 * time.Millisecond) // the file is older than the reservation
	c.Process.Signal(os.Interrupt)
	if e := finish(t, c.Wait(), c); e.code != exitCancelled {
		t.Fatalf("got exit code %d, want %d: %s", e.code, exitCancelled, stderr.String())
	}
	if !strings.Contains(stderr.String(), "people.gen.ckpt") {
		t.Errorf("standard error does not name the checkpoint: %s", stderr.String())
	}
	// a result that the ledger does not know, as after an error of the ledger, is in the way
	s.write("people.gen", "a result")
	if e := s.run(exitUsage, fit...); !strings.Contains(e.stderr, "move it away") {
		t.Errorf("standard error does not say how to continue: %s", e.stderr)
	}
	if err := os.Remove(s.path("people.gen")); err != nil {
		t.Fatal(err)
	}
	s.run(0, fit...)
}

// TestInterruptedWhileReading: an interrupt, or a closed terminal, ends a command that waits for
// the end of an input, and nothing has been spent.
func TestInterruptedWhileReading(t *testing.T) {
	s := withShortPlan(t)
	s.run(0, "ledger", "create", "people")
	rows := strings.Repeat("30,self,40,low\n", 1<<16) // more than a pipe holds
	hangUp := syscall.SIGHUP
	if signal.Ignored(hangUp) { // this process, and so the commands, were started by nohup
		hangUp = syscall.SIGTERM
	}
	for i, args := range [][]string{
		{"fit", "plan.json", "-", "--ledger", "people", "-o", "x.gen"},
		{"draft", "-", "--candidates", "schema.json", "--ledger", "people", "-o", "x.json"},
		{"draft", "-", "--format", "csv", "--public", "-o", "x.json"},
	} {
		c := s.command(args...)
		c.Stdin = nil
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "age,work,hours,income\n"+rows); err != nil {
			t.Fatal(err)
		}
		c.Process.Signal([]os.Signal{syscall.SIGTERM, hangUp, os.Interrupt}[i])
		late := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
		if e := finish(t, c.Wait(), c); e.code != exitCancelled || !late.Stop() {
			t.Errorf("%q: got exit code %d, want %d", args, e.code, exitCancelled)
		}
	}
	if spent := decode[leftResult](t, s.run(0, "ledger", "left", "people",
		"--json").stdout).Spent.Upper; spent != 0 {
		t.Errorf("ε = %v is spent, want 0", spent)
	}
}

// TestInterruptedRelease: draft and fidelity have no checkpoint. Once they begin to spend, a first
// interrupt leaves them time to write what is paid for.
func TestInterruptedRelease(t *testing.T) {
	s := withShortPlan(t)
	s.run(0, "fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger",
		"-o", "people.gen")
	s.people("many.csv", 20_000, 4)
	for _, args := range [][]string{
		{"draft", "many.csv", "--candidates", "schema.json", "-o", "drafted.json"},
		{"fidelity", "people.gen", "many.csv", "-n", "500", "-o", "figures.json"},
	} {
		c := s.command(append(args, "--ledger", args[0], "--new-ledger")...)
		stderr, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		text := ""
		for lines := bufio.NewScanner(stderr); lines.Scan(); text += lines.Text() + "\n" {
			if strings.HasPrefix(lines.Text(), "note: created the ledger") {
				c.Process.Signal(os.Interrupt)
			}
		}
		if e := finish(t, c.Wait(), c); e.code != 0 || !strings.Contains(text, "note: created") {
			t.Errorf("%s: got exit code %d: %s", args[0], e.code, text)
		} else {
			s.read(args[len(args)-1])
		}
	}
}

// TestTwoFitsAtOnce: of three concurrent fits on the budget of one, exactly one succeeds.
func TestTwoFitsAtOnce(t *testing.T) {
	for _, place := range []string{"ledgers", "sqlite:ledgers.db"} {
		t.Run(place, func(t *testing.T) {
			s := withShortPlan(t)
			codes := make([]int, 3)
			var wait sync.WaitGroup
			for i := range codes {
				wait.Go(func() {
					c := s.command("fit", "plan.json", "people.csv", "--store", place, "--ledger", "people",
						"--new-ledger", "-o", []string{"a.gen", "b.gen", "c.gen"}[i])
					c.Run()
					codes[i] = c.ProcessState.ExitCode()
				})
			}
			wait.Wait()
			done, refused := 0, 0
			for _, code := range codes {
				switch code {
				case exitOK:
					done++
				case exitBudget:
					refused++
				}
			}
			if done != 1 || refused != 2 {
				t.Fatalf("got exit codes %v, want one 0 and two %d", codes, exitBudget)
			}
			e := s.run(0, "ledger", "verify", "people", "--store", place, "--json")
			if r := decode[verifyResult](t, e.stdout); !r.Within || r.Spent.Upper > 1 {
				t.Errorf("the ledger has spent more than its budget: %+v", r)
			}
		})
	}
}

// TestOneCheckpointOneRun: a second process on the same checkpoint, or for the same result, is
// refused. A first run that ends before the others have tried shows nothing; another one is made.
func TestOneCheckpointOneRun(t *testing.T) {
	for range 5 {
		s := withPlan(t, "--system", "dpgm")
		fit := []string{"fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
			"people.gen"}
		first := s.command(fit...)
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		s.await("people.gen.ckpt")
		again := append(fit[:len(fit)-1:len(fit)-1], "other.gen", "--checkpoint", "people.gen.ckpt")
		tries := [][]string{append(fit, "--checkpoint", "other.ckpt"), append(fit, "--no-checkpoint"),
			again}
		words := []string{"people.gen: in use", "people.gen: in use", "another run uses the checkpoint"}
		refused := 0
		for i, args := range tries {
			c := s.command(args...)
			text, _ := c.CombinedOutput()
			if c.ProcessState.ExitCode() == exitTaken && strings.Contains(string(text), words[i]) {
				refused++
			}
		}
		ended := exists(s.path("people.gen"))
		if e := finish(t, first.Wait(), first); e.code != 0 {
			t.Errorf("the first run ends with exit code %d", e.code)
		}
		if refused == len(tries) {
			return
		} else if !ended {
			t.Fatalf("%d of %d further runs are refused", refused, len(tries))
		}
	}
	t.Fatal("no further run is refused, or five runs ended before the others had tried")
}
