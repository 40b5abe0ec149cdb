package program

import (
	"fmt"
	"io"
	"time"

	"github.com/seed7ba64551/privgen"
)

// Meter shows progress on one line of a terminal, which it writes again and again. Show is for
// privgen.OnProgress.
type Meter struct {
	To io.Writer
	// of the line; its operands are stage, step, steps in all, ε so far and time so far
	Layout string
	Every  time.Duration // shortest time between two lines; 0 for a tenth of a second
	Erase  bool          // take the line away when a stage is over, instead of beginning another

	last time.Time
}

// Show writes the line, unless the last one is too fresh.
func (m *Meter) Show(p privgen.Progress) {
	every := m.Every
	if every == 0 {
		every = 100 * time.Millisecond
	}
	if p.Step < p.Of && time.Since(m.last) < every {
		return
	}
	m.last = time.Now()
	fmt.Fprintf(m.To, "\r"+m.Layout+"   ", p.Stage, p.Step, p.Of, p.Epsilon,
		p.Elapsed.Round(time.Second))
	switch {
	case p.Step < p.Of:
	case m.Erase:
		fmt.Fprint(m.To, "\r\033[K")
	default:
		fmt.Fprintln(m.To)
	}
}
