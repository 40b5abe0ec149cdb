package beam

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// A Work describes the sums of a pass over the records. It is public and is sent to workers as part
// of the pipeline. [PlanWork], [DraftWork] and [KMeansWork] make one.
type Work struct {
	Kind string `json:"kind"`
	Plan []byte `json:"plan,omitempty"` // the plan in JSON
}

// The kinds of work.
const (
	kindPlan   = "plan"
	kindDraft  = "draft"
	kindKMeans = "k-means"
)

// PlanWork describes the passes of a plan.
//
// Errors: all errors of the plan's MarshalJSON; those of reading the plan, since workers read it,
// for example of a plan of another module's system.
func PlanWork(p synth.PassPlan) (Work, error) {
	text, err := json.Marshal(p)
	w := Work{kindPlan, text}
	if err == nil {
		_, err = w.counting()
	}
	return w, err
}

// DraftWork describes the one pass of a draft.
//
// Errors: all errors of the plan's MarshalJSON.
func DraftWork(p *draft.Plan) (Work, error) {
	text, err := json.Marshal(p)
	return Work{kindDraft, text}, err
}

// KMeansWork describes the iterations of a clustering. The rest of an iteration's description is in
// its pass.
func KMeansWork() Work { return Work{Kind: kindKMeans} }

// A counting returns the sums of a pass before any record is added. The pass is given in JSON, and
// the key with the public name keyID decrypts its secret.
type counting func(pass []byte, keyID string, be device.Backend) (*mechanism.Partial, error)

// A sealedPass is a pass of a plan in the form that is sent to workers.
type sealedPass struct {
	synth.Pass
	Sealed []byte `json:"sealed,omitempty"` // the encrypted secret
}

// seal encrypts the secret of a pass and authenticates the secret and the pass together.
func seal(k mechanism.Key, p synth.Pass) (sealedPass, error) {
	if p.Secret == nil {
		return sealedPass{Pass: p}, nil
	}
	about, err := json.Marshal(p)
	if err != nil {
		return sealedPass{}, err
	}
	sealed, err := k.SealBytes(about, p.Secret)
	return sealedPass{p, sealed}, err
}

// open is the inverse of seal. The process must have the key.
func (s sealedPass) open(keyID string) (synth.Pass, error) {
	if s.Sealed == nil {
		return s.Pass, nil
	}
	about, err := json.Marshal(s.Pass)
	if err != nil {
		return s.Pass, err
	}
	k, err := key(keyID)
	if err != nil {
		return s.Pass, err
	}
	s.Secret, err = k.OpenBytes(about, s.Sealed)
	return s.Pass, err
}

// read caches decoded work, because decoding a plan computes its price again.
var read sync.Map // from the text of a Work to its counting

// counting decodes the work, or returns it from the cache.
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
		if err := param.Decode(w.Plan, p); err != nil {
			return nil, err
		}
		return func([]byte, string, device.Backend) (*mechanism.Partial, error) {
			return p.NewPartial()
		}, nil
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
	return func(pass []byte, keyID string, be device.Backend) (*mechanism.Partial, error) {
		var sealed sealedPass
		if err := param.Decode(pass, &sealed); err != nil {
			return nil, fmt.Errorf("beam: pass: %w", err)
		}
		which, err := sealed.open(keyID)
		if err != nil {
			return nil, fmt.Errorf("beam: pass: %w", err)
		}
		return p.Partial(which, synth.On(be))
	}, nil
}

// kmeansCounting returns the sums of a clustering. The pass names the features, which may be the
// raw coordinates.
func kmeansCounting(text []byte, _ string, be device.Backend) (*mechanism.Partial, error) {
	var p kmeans.Pass
	if err := param.Decode(text, &p); err != nil {
		return nil, fmt.Errorf("beam: pass: %w", err)
	}
	if p.Features == rawFeatures {
		return p.NewPartial(be, kmeans.Raw(p.Schema))
	}
	m := new(rff.Map)
	if err := param.Decode([]byte(p.Features), m); err != nil {
		return nil, err
	}
	return p.NewPartial(be, m)
}

const rawFeatures = "raw"

// backend returns the backend for one bundle. If workers is 0, it uses all processors.
func backend(workers int) device.Backend {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return device.CPUWith(workers)
}
