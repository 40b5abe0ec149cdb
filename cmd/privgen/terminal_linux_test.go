package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal of 100 columns.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("pseudo-terminals are not available:", err)
	}
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Skip(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return ours, theirs
}

// TestSpeedOfShortStages: a stage that has ended before its bar is first drawn has a speed, which
// no longer changes.
func TestSpeedOfShortStages(t *testing.T) {
	at := time.Unix(0, 0)
	speed := averageSpeed(func() time.Time { return at })
	at = at.Add(2 * time.Second)
	done := decor.Statistics{Current: 60, Total: 60, Completed: true}
	for range 2 {
		if got := speed(done); got != "30/s" {
			t.Errorf("got %q, want 30/s", got)
		}
		at = at.Add(time.Minute)
	}
}

// TestBarsOnATerminal: a fit on a terminal draws bars with a rate and the remaining time, and all
// bars are full at the end.
func TestBarsOnATerminal(t *testing.T) {
	s := withShortPlan(t)
	ours, theirs := openTerminal(t)
	defer ours.Close()
	c := s.command("fit", "plan.json", "people.csv", "--ledger", "people", "--new-ledger", "-o",
		"people.gen")
	c.Stderr = theirs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	shown, _ := io.ReadAll(ours) // ends with an error when the last process closes the terminal
	if e := finish(t, c.Wait(), c); e.code != 0 {
		t.Fatalf("got exit code %d, want 0: %s", e.code, shown)
	}
	text := regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]").ReplaceAllString(string(shown), "")
	for _, words := range []string{"mean embedding", "generator", "60/60", "/s", "left 00:"} {
		if !strings.Contains(text, words) {
			t.Errorf("the terminal does not show %q, but %q", words, text)
		}
	}
	if strings.Contains(text, " so far") {
		t.Error("the terminal shows lines of progress in addition to bars")
	}
}
