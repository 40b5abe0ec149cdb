package beam

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// A Shard is a set of records that is fixed before the pipeline starts, such as a file or a range
// of one. Both fields are public.
type Shard struct {
	Name     string // unique among the job's shards
	Location string // tells the source which records to read
}

// A Source opens a shard. It yields the same records in the same order each time, on any machine.
// Each record is in one shard only. If the ledger protects users, all records of a user must be in
// one shard. The source must state this by records.WithUnit and records.WithPart for the data that
// it yields.
//
// Its errors end the pipeline and are returned to the caller, so they should not describe records.
type Source func(ctx context.Context, location string) iter.Seq2[records.Data, error]

// registry holds the functions of this process by name. A pipeline contains names, because
// functions cannot be sent. Every process that may run part of a pipeline registers the same
// functions.
var registry struct {
	sync.Mutex
	sources map[string]Source
	keys    map[string]mechanism.Key
	provide func(id string) (mechanism.Key, error)
	unknown map[string]bool // names of runners that Beam did not know
}

// RegisterSource registers a source under a name for the pipelines of this process. Programs that
// run on workers call it before Beam's Init. A second source of the same name replaces the first.
func RegisterSource(name string, s Source) {
	registry.Lock()
	defer registry.Unlock()
	if registry.sources == nil {
		registry.sources = map[string]Source{}
	}
	registry.sources[name] = s
}

// source finds a source.
func source(name string) (Source, error) {
	registry.Lock()
	defer registry.Unlock()
	if s := registry.sources[name]; s != nil {
		return s, nil
	}
	return nil, param.New("beam.Job.Source", name, "the name of a source that was passed to RegisterSource")
}

const (
	defaultRunner = "prism"
	wantRunner    = "the name of a Beam runner whose package the program imports"
)

// hasRunner reports whether Beam has a runner, since sdk.Run ends the process if it has none. Beam
// has no look-up, but registering panics for a name that is taken. An unknown name is left with a
// runner that only fails.
func hasRunner(name string) (known bool) {
	registry.Lock()
	defer registry.Unlock()
	name = cmp.Or(name, defaultRunner)
	if registry.unknown[name] {
		return false
	}
	defer func() { known = recover() != nil }()
	sdk.RegisterRunner(name, func(context.Context, *sdk.Pipeline) (sdk.PipelineResult, error) {
		return nil, param.New("beam.Job.Runner", name, wantRunner)
	})
	if registry.unknown == nil {
		registry.unknown = map[string]bool{}
	}
	registry.unknown[name] = true
	return false
}

// ProvideKeys sets the function by which this process gets a key by its public name
// (mechanism.Key.ID), for example from a store of secrets. Programs that run on workers call
// ProvideKeys before Beam's Init. The process that starts a pipeline already has its key.
func ProvideKeys(f func(id string) (mechanism.Key, error)) {
	registry.Lock()
	defer registry.Unlock()
	registry.provide = f
}

// hold makes a key known to this process.
func hold(k mechanism.Key) {
	registry.Lock()
	defer registry.Unlock()
	if registry.keys == nil {
		registry.keys = map[string]mechanism.Key{}
	}
	registry.keys[k.ID()] = k
}

// key finds a key by its public name.
func key(id string) (mechanism.Key, error) {
	registry.Lock()
	k, held := registry.keys[id]
	provide := registry.provide
	registry.Unlock()
	if held {
		return k, nil
	}
	if provide == nil {
		return k, param.New("beam.ProvideKeys", "no function",
			"a call, before Beam's Init, with a function that returns the key "+id)
	}
	k, err := provide(id)
	if err != nil {
		return k, fmt.Errorf("beam: key %s: %w", id, err)
	}
	if k.ID() != id {
		return mechanism.Key{}, param.New("beam.ProvideKeys", k.ID(), "the key "+id)
	}
	hold(k)
	return k, nil
}
