package synth

import "time"

// pace decides how many uses are counted ahead at a time: a fixed number, or enough that writing
// takes less than a twentieth of the time.
type pace struct {
	every int // the fixed number; 0 if there is none
	calls int // of due
	ahead int
	begun time.Time     // when the run began
	last  time.Time     // end of the last write
	took  time.Duration // duration of the last write
}

const (
	writingShare = 20
	leastPause   = 250 * time.Millisecond
	freeSteps    = 64 // between optional writes with a fixed number of uses
)

// next returns how many uses, or rounds, to count ahead.
func (p *pace) next() int {
	if p.every > 0 {
		return p.every
	}
	since, want := time.Since(p.last), max(writingShare*p.took, leastPause)
	switch {
	case p.ahead == 0:
		p.ahead = 1
	case since < want:
		p.ahead = min(2*p.ahead, 1<<20)
	case since > 2*want:
		p.ahead = max(p.ahead/2, 1)
	}
	return p.ahead
}

// due reports whether enough time has passed since the last write for an optional write, which
// saves work if the run is interrupted. A process that has just started writes often, so that even
// a run that is killed again and again makes progress. With a fixed number of uses, it counts steps
// instead of time, so two runs write the same states. A process that is killed before its 64th step
// then makes no progress in steps without a use.
func (p *pace) due() bool {
	if p.every > 0 {
		p.calls++
		return p.calls%freeSteps == 0
	}
	pause := min(time.Since(p.begun)/8, 10*leastPause)
	return time.Since(p.last) > max(writingShare*p.took, leastPause, pause)
}

func (p *pace) wrote(start time.Time) {
	p.last = time.Now()
	p.took = p.last.Sub(start)
}
