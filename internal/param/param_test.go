package param_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

func TestCheckerJoinsEveryMistake(t *testing.T) {
	var c param.Checker
	c.OK(true, "a.B", 1, "anything")
	c.Add(nil)
	if err := c.Err(); err != nil {
		t.Fatalf("no mistake gives %v", err)
	}
	other := errors.New("other")
	c.OK(false, "a.B.C", 0, "a positive integer")
	c.Add(other)
	err := c.Err()
	var e *param.Error
	if !errors.As(err, &e) || e.Path != "a.B.C" || !errors.Is(err, other) {
		t.Fatalf("got %v", err)
	}
	if got := e.Error(); got != "a.B.C: 0: want a positive integer" {
		t.Errorf("text %q", got)
	}
}
