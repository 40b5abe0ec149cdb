package beam

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/mechanism"
)

// init registers the pipeline's functions, since a pipeline refers to functions by name.
func init() {
	for _, f := range []any{&sumFn{}, &partFn{}, &mergeFn{}, &divideFn{}, &writeFn{}, &sampleFn{}} {
		sdk.RegisterType(reflect.TypeOf(f).Elem())
	}
	sdk.RegisterFunction(keyed)
	sdk.RegisterFunction(marked)
}

// Settings configure the steps of a pipeline. All fields are public.
type Settings struct {
	Work    Work
	Source  string // name of the source that reads shards
	Key     string // public name of the key that seals sums
	Groups  int    // number of groups in which sums are merged first
	Workers int    // number of goroutines of a bundle; 0 for all cores
}

// step has the common part of a pipeline's functions.
type step struct {
	Settings
	counting counting
}

// empty returns sums of no records.
func (s *step) empty(pass []byte) (*mechanism.Partial, error) {
	if s.counting == nil {
		var err error
		if s.counting, err = s.Work.counting(); err != nil {
			return nil, err
		}
	}
	return s.counting(pass, s.Key, backend(s.Workers))
}

// emit seals sums and sends them to their group.
func (s *step) emit(p *mechanism.Partial, name string, emit func(int, []byte)) error {
	k, err := key(s.Key)
	if err != nil {
		return err
	}
	sealed, err := p.Seal(k, mechanism.Shard{Name: name})
	if err != nil {
		return err
	}
	emit(groupOf(name, s.Groups), sealed)
	return nil
}

// groupOf returns a shard's group. It depends only on the name, so all attempts at a shard are in
// one group.
func groupOf(name string, groups int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum64() % uint64(max(groups, 1)))
}

// sumFn adds up shards.
type sumFn struct {
	Settings
	step step
}

// ProcessElement adds up one shard.
func (f *sumFn) ProcessElement(ctx context.Context, shard Shard, pass []byte,
	emit func(int, []byte)) error {
	f.step.Settings = f.Settings
	open, err := source(f.Source)
	if err != nil {
		return err
	}
	sums, err := f.step.empty(pass)
	if err != nil {
		return err
	}
	if err := sums.Begin(shard.Name); err != nil {
		return err
	}
	for data, err := range open(ctx, shard.Location) {
		if err == nil {
			err = sums.Add(ctx, data)
		}
		if err != nil {
			return fmt.Errorf("beam: shard %s: %w", shard.Name, err)
		}
	}
	return f.step.emit(sums, shard.Name, emit)
}

// mergeFn merges the sums of a group.
type mergeFn struct {
	Settings
	step step
}

// ProcessElement merges sealed sums and seals them under the names of all their shards.
func (f *mergeFn) ProcessElement(_ context.Context, _ int, sealed func(*[]byte) bool, pass []byte,
	emit func(int, []byte)) error {
	f.step.Settings = f.Settings
	all, err := f.step.empty(pass)
	if err != nil {
		return err
	}
	k, err := key(f.Key)
	if err != nil {
		return err
	}
	for one := []byte(nil); sealed(&one); {
		if err := all.Open(k, one); err != nil {
			return err
		}
	}
	return f.step.emit(all, "", emit)
}

// Sum adds up every shard of shards, a PCollection of [Shard]. The PCollection pass has one
// element, the pass in JSON as a []byte. Sum returns a PCollection of sealed sums, each with the
// number of its group.
func Sum(s sdk.Scope, set Settings, pass, shards sdk.PCollection) sdk.PCollection {
	s = s.Scope("privgen.Sum")
	return sdk.ParDo(s, &sumFn{Settings: set}, shards, sdk.SideInput{Input: pass})
}

// Merge merges sealed sums, first in groups and then all groups together, and returns a PCollection
// of one element. A shard counts once, even if its sums come several times.
func Merge(s sdk.Scope, set Settings, pass, sums sdk.PCollection) sdk.PCollection {
	s = s.Scope("privgen.Merge")
	groups := sdk.ParDo(s, &mergeFn{Settings: set}, sdk.GroupByKey(s, sums),
		sdk.SideInput{Input: pass})
	together := sdk.ParDo(s, keyed, groups)
	set.Groups = 1
	return sdk.DropKey(s, sdk.ParDo(s, &mergeFn{Settings: set}, sdk.GroupByKey(s, together),
		sdk.SideInput{Input: pass}))
}

// keyed assigns all sums to group 0.
func keyed(_ int, sealed []byte) (int, []byte) { return 0, sealed }
