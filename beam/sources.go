package beam

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Shard is a set of records that is fixed before the pipeline starts, such as a file or a range
// of one. Both fields are public.
type Shard struct {
	Name     string // one shard's alone
	Location string // for the source that reads it
}

// A Source opens a shard. Opened again, on whatever machine, it yields the same records; a record
// is in one shard only. Where a ledger protects users, all of a user must be in one shard, which
// the pieces state by records.WithUnit and records.WithPart.
//
// Its errors end the pipeline: the author of a source decides what they say about the records.
type Source func(ctx context.Context, location string) iter.Seq2[records.Data, error]

// registry is what functions of this process are known by. Pipelines carry names, since functions
// do not travel: every process that may run part of a pipeline registers the same ones.
var registry struct {
	sync.Mutex
	sources map[string]Source
	keys    map[string]mechanism.Key
	provide func(id string) (mechanism.Key, error)
}

// RegisterSource makes a source known by a name to pipelines of this process. Programs that run on
// workers call it before Beam's Init. The last one of a name counts.
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
	return nil, param.New("beam.Job.Source", name, "the name of a source that RegisterSource was told")
}

// ProvideKeys says how this process comes by the key of a public name (mechanism.Key.ID), from a
// store of secrets for example. Programs that run on workers call it before Beam's Init; the
// process that starts a pipeline has its key already.
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
		return k, param.New("beam.ProvideKeys", "nothing",
			"a function that gives this process the key "+id)
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
