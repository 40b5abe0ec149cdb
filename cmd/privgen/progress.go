package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
)

// meter shows the progress of a run.
type meter interface {
	show(privgen.Progress)
	end() // must be called before other output
}

func (a *app) checkProgress() error {
	return oneOf("progress", a.progress, "auto", "bar", "plain", "none")
}

// meter returns a meter of bars for a terminal, and of lines otherwise. A file gets no carriage
// returns unless --progress=bar is given.
func (a *app) meter() meter {
	switch {
	case a.quiet || a.progress == "none":
		return noMeter{}
	case a.progress == "bar", a.progress == "auto" && isTerminal(a.stderr):
		return newBars(a.stderr)
	}
	return newLines(a.stderr, time.Now)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

type noMeter struct{}

func (noMeter) show(privgen.Progress) {}
func (noMeter) end()                  {}

// bars draws a bar for each stage of a run. A run may go from one stage to another and back, as AIM
// does in each of its rounds.
type bars struct {
	all    *mpb.Progress
	stages map[string]*mpb.Bar
}

func newBars(to io.Writer) *bars {
	return &bars{stages: map[string]*mpb.Bar{}, all: mpb.New(
		mpb.WithOutput(to), mpb.WithAutoRefresh(), mpb.WithWidth(30),
		mpb.WithRefreshRate(100*time.Millisecond))}
}

func (b *bars) show(p privgen.Progress) {
	bar := b.stages[p.Stage]
	if bar == nil {
		bar = b.all.AddBar(int64(p.Of),
			mpb.PrependDecorators(decor.Name(p.Stage, decor.WC{W: 20, C: decor.DindentRight}),
				decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Any(averageSpeed(time.Now), decor.WCSyncSpace),
				decor.Name(" left "),
				decor.AverageETA(decor.ET_STYLE_HHMMSS)))
		b.stages[p.Stage] = bar
	}
	bar.SetCurrent(int64(p.Step))
}

// averageSpeed returns the steps per second of a stage that begins now. Unlike decor.AverageSpeed,
// it also has a speed for stages that end before they are first drawn.
func averageSpeed(now func() time.Time) decor.DecorFunc {
	began, text := now(), ""
	return func(s decor.Statistics) string {
		if !s.Completed || text == "" {
			text = fmt.Sprintf("%.0f/s", float64(s.Current)/max(now().Sub(began).Seconds(), 1e-3))
		}
		return text
	}
}

// end ends all bars, also those of stages that ended early.
func (b *bars) end() {
	for _, bar := range b.stages {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	b.all.Wait()
}

// lines prints a line for the first and the last step of each stage, and a line every few seconds,
// even if a run goes from one stage to another and back.
type lines struct {
	to    io.Writer
	every time.Duration
	now   func() time.Time

	mu     sync.Mutex
	stages map[string]stageLines
	last   time.Time // when a line was printed
}

// stageLines is the beginning of a stage.
type stageLines struct {
	first int // first step that was reported
	began time.Time
}

func newLines(to io.Writer, now func() time.Time) *lines {
	return &lines{to: to, every: 5 * time.Second, now: now, stages: map[string]stageLines{}}
}

func (l *lines) show(p privgen.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	stage, old := l.stages[p.Stage]
	if !old {
		stage = stageLines{p.Step, now}
		l.stages[p.Stage] = stage
	}
	if old && p.Step < p.Of && now.Sub(l.last) < l.every {
		return
	}
	l.last = now
	line := fmt.Sprintf("%s: %d of %d", p.Stage, p.Step, p.Of)
	if spent := now.Sub(stage.began).Seconds(); spent > 0 && p.Step > stage.first {
		rate := float64(p.Step-stage.first) / spent
		left := time.Duration(float64(p.Of-p.Step) / rate * float64(time.Second))
		line += fmt.Sprintf(", %.3g/s, %v left", rate, left.Round(time.Second))
	}
	fmt.Fprintf(l.to, "%s, ε ≤ %s so far\n", line, accountant.FormatUpper(p.Epsilon, 4))
}

func (l *lines) end() {}
