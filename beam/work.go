package beam

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// A Work says what a pass over the records adds up. It holds public things alone and travels with
// the pipeline. Make one with [PlanWork], [DraftWork] or [KMeansWork].
type Work struct {
	Kind string `json:"kind"`
	Plan []byte `json:"plan,omitempty"` // in JSON
}

// The kinds of work.
const (
	kindPlan   = "plan"
	kindDraft  = "draft"
	kindKMeans = "k-means"
)

// PlanWork is the passes of a plan.
//
// Errors: those of the plan's MarshalJSON.
func PlanWork(p synth.PassPlan) (Work, error) {
	text, err := json.Marshal(p)
	return Work{kindPlan, text}, err
}

// DraftWork is the one pass of a draft.
//
// Errors: those of the plan's MarshalJSON.
func DraftWork(p *draft.Plan) (Work, error) {
	text, err := json.Marshal(p)
	return Work{kindDraft, text}, err
}

// KMeansWork is the iterations of a clustering; each pass says all that it depends on.
func KMeansWork() Work { return Work{Kind: kindKMeans} }

// A counting makes empty sums of a pass, given in JSON.
type counting func(pass []byte, be device.Backend) (*partial.Partial, error)

// read holds the work that this process has read, which for a plan means pricing it again.
var read sync.Map // of counting, by Work in text

// counting reads the work, as a process does that was sent it.
func (w Work) counting() (counting, error) {
	name := w.Kind + " " + string(w.Plan)
	if c, known := read.Load(name); known {
		return c.(counting), nil
	}
	c, err := w.readCounting()
	if err == nil {
		read.Store(name, c)
	}
	return c, err
}

func (w Work) readCounting() (counting, error) {
	switch w.Kind {
	case kindPlan:
		return planCounting(w.Plan)
	case kindDraft:
		p := new(draft.Plan)
		if err := json.Unmarshal(w.Plan, p); err != nil {
			return nil, err
		}
		return func([]byte, device.Backend) (*partial.Partial, error) { return p.NewPartial() }, nil
	case kindKMeans:
		return kmeansCounting, nil
	}
	return nil, param.New("beam.Work", w.Kind, "work made by PlanWork, DraftWork or KMeansWork")
}

func planCounting(text []byte) (counting, error) {
	saved, err := privgen.Systems().ReadPlan(text)
	if err != nil {
		return nil, err
	}
	p, ok := saved.(synth.PassPlan)
	if !ok {
		return nil, param.New("beam.Work.Plan", saved.System(), "a plan of exact sums over all records")
	}
	return func(pass []byte, be device.Backend) (*partial.Partial, error) {
		var which synth.Pass
		if err := json.Unmarshal(pass, &which); err != nil {
			return nil, fmt.Errorf("beam: pass: %w", err)
		}
		return p.Partial(which, synth.On(be))
	}, nil
}

// kmeansCounting makes the features of the pass: raw ones where it names none.
func kmeansCounting(text []byte, be device.Backend) (*partial.Partial, error) {
	var p kmeans.Pass
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("beam: pass: %w", err)
	}
	if p.Features == rawFeatures {
		return p.NewPartial(be, kmeans.Raw(p.Schema))
	}
	m := new(rff.Map)
	if err := json.Unmarshal([]byte(p.Features), m); err != nil {
		return nil, err
	}
	return p.NewPartial(be, m)
}

const rawFeatures = "raw"

// backend is that of one bundle.
func backend(workers int) device.Backend {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return device.CPUWith(workers)
}
