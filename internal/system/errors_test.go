package system

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func TestParamErrorsRestatesEveryKind(t *testing.T) {
	other := errors.New("something else")
	err := ParamErrors(errors.Join(&records.ShapeError{Path: "a"}, errors.Join(&models.ConfigError{Path: "b"}), &rff.ParamError{Path: "c"}, other))
	var paths string
	var walk func(error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				walk(e)
			}
		} else if p, ok := err.(*accountant.ParamError); ok {
			paths += p.Path
		}
	}
	walk(err)
	if paths != "abc" || !errors.Is(err, other) {
		t.Errorf("%q of %v", paths, err)
	}
	if ParamErrors(nil) != nil {
		t.Error("nothing is restated as something")
	}
}

func TestCheckerCollects(t *testing.T) {
	var c Checker
	c.OK(true, "a", 1, "")
	c.Add(nil)
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	c.OK(false, "b", 1, "")
	c.Add(errors.ErrUnsupported)
	var p *accountant.ParamError
	if err := c.Err(); !errors.As(err, &p) || p.Path != "b" || !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
