package sgd

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// segmented is a network whose parameters consist of consecutive segments with different public
// divisors. An example is a mixture: its parts see different fractions of the records.
type segmented interface{ Segments() []Segment }

// Segment describes a number of consecutive parameters, Params. Their noised gradient sum is
// divided by NominalBatch, a public or released number.
type Segment struct {
	Params       int
	NominalBatch float64
}

// span holds a segment's end in the flat vector, and its factor: one over its nominal batch.
type span struct {
	end   int
	scale float64
}

// spans returns the divisors of p parameters.
func spans(cfg Config, net any, p int) ([]span, error) {
	s, ok := net.(segmented)
	if !ok {
		return wholeSpan(cfg, p)
	}
	var list []span
	var errs []error
	end := 0
	for i, seg := range s.Segments() {
		if seg.Params < 0 || !(seg.NominalBatch > 0) || math.IsInf(seg.NominalBatch, 0) {
			errs = append(errs,
				&param.Error{Path: fmt.Sprintf("sgd.Segment[%d]", i), Value: seg,
					Want: "a number of parameters and a positive finite nominal batch"})
		}
		end += seg.Params
		list = append(list, span{end, 1 / seg.NominalBatch})
	}
	if end != p {
		errs = append(errs,
			&param.Error{Path: "sgd.Segments", Value: end,
				Want: fmt.Sprintf("segments that cover the network's %d parameters", p)})
	}
	return list, errors.Join(errs...)
}

func wholeSpan(cfg Config, p int) ([]span, error) {
	switch {
	case cfg.NominalBatch > 0:
		return []span{{p, 1 / cfg.NominalBatch}}, nil
	case cfg.Optimizer.ScaleFree():
		return []span{{p, 1}}, nil
	}
	return nil, &param.Error{Path: "sgd.Config.NominalBatch", Value: cfg.NominalBatch,
		Want: "a positive public number, the divisor of gradient sums: only Adam needs none"}
}
