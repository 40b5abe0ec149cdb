package gan_test

import (
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
		c.Budget = b
		p, err := c.Plan()
		if err != nil {
			return nil, err
		}
		return p, nil
	}}

func TestSystem(t *testing.T) { synthtest.Run(t, subject) }

// TestKilled kills whole processes at random moments.
func TestKilled(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 2
	}
	synthtest.Kill(t, subject, kills)
}

// TestRace starts three processes on one checkpoint.
func TestRace(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 1
	}
	synthtest.Race(t, subject, rounds)
}
