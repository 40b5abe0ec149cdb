package program

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
)

// Meter shows progress. On a terminal it overwrites one line; otherwise it writes separate lines.
// Pass its Show method to privgen.OnProgress.
type Meter struct {
	To     io.Writer
	Redraw bool          // overwrite one line, for terminals
	Every  time.Duration // minimal time between two lines of a stage

	stage string
	first int       // first step of the stage that was shown
	began time.Time // time of that step
	last  time.Time // time of the last line
}

// NewMeter returns a Meter that shows progress on standard error.
func NewMeter() *Meter {
	info, err := os.Stderr.Stat()
	if err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return &Meter{To: os.Stderr, Redraw: true, Every: 100 * time.Millisecond}
	}
	return &Meter{To: os.Stderr, Every: 5 * time.Second}
}

// Show writes a line of progress unless the last line is too recent.
func (m *Meter) Show(p privgen.Progress) {
	now := time.Now()
	if p.Stage != m.stage {
		m.stage, m.first, m.began, m.last = p.Stage, p.Step, now, time.Time{}
	}
	if p.Step < p.Of && now.Sub(m.last) < m.Every {
		return
	}
	m.last = now
	line := fmt.Sprintf("%s: %d of %d", p.Stage, p.Step, p.Of)
	if spent := now.Sub(m.began).Seconds(); spent > 0 && p.Step > m.first {
		rate := float64(p.Step-m.first) / spent
		left := time.Duration(float64(p.Of-p.Step) / rate * float64(time.Second))
		line += fmt.Sprintf(", %.3g/s, %v left", rate, left.Round(time.Second))
	}
	line += fmt.Sprintf(", ε ≤ %s so far", accountant.FormatUpper(p.Epsilon, 4))
	switch {
	case !m.Redraw:
		fmt.Fprintln(m.To, line)
	case p.Step < p.Of:
		fmt.Fprintf(m.To, "\r%s\033[K", line)
	default:
		fmt.Fprintf(m.To, "\r%s\033[K\n", line)
	}
}
