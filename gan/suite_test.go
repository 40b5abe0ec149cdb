package gan_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

var subject = synthtest.Subject{System: gan.System(),
	Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
		c := small(s, b.Relation)
		c.Budget, c.Average = b, 0.9
		p, err := c.Plan()
		if err != nil {
			return nil, err
		}
		return p, nil
	}}

func TestSystem(t *testing.T) {
	t.Parallel() // it waits for the disk
	synthtest.Run(t, subject)
}

var (
	kills = flag.Int("kills", 4, "number of processes to kill")
	long  = flag.Bool("long", false, "learn two classes, too")
)

// TestKilled kills processes at random moments and checks that their runs can be resumed.
func TestKilled(t *testing.T) { synthtest.Kill(t, subject, *kills) }

// TestRace starts several processes on one checkpoint.
func TestRace(t *testing.T) { synthtest.Race(t, subject, max(*kills/4, 1)) }
