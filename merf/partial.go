package merf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Partial is the sum of features of some of the records, for example of one shard. Partials are
// merged before noise is added, so many shards together get the noise of one release.
//
// Guarantee: none. A Partial holds private numbers without noise. Only Release reads them. A
// Partial prints as [private] and cannot be marshalled.
//
// Sums are kept in fixed point: they depend neither on the order of records nor on how these were
// spread over shards and workers. A Partial is not safe for concurrent use; give each goroutine its
// own.
type Partial struct {
	work    *work
	be      device.Backend
	workers []*worker
	who     string // the unit of the records so far, "" before any
	parts   parts  // that their units are in
	broken  bool   // the sums hold some of the records of a failed Add
	loose   bool   // the backend promises no exact features: see device.Promises
}

// NewPartial returns an empty sum, computed on the backend given by synth.On; other options are
// ignored. For a plan not made by Config.Plan it returns a Partial whose methods fail.
func (p *Plan) NewPartial(opts ...synth.Option) *Partial {
	if p.made() != nil {
		return new(Partial)
	}
	r, err := synth.FreeRun(accountant.Guarantee{}, opts...)
	if err != nil { // a checkpoint, which sums without noise cannot have
		return new(Partial)
	}
	return p.work.newPartial(r.Backend)
}

func (w *work) newPartial(be device.Backend) *Partial {
	a := &Partial{work: w, be: be,
		loose: device.PromisesOf(be) != device.Promises{RowsAlone: true, SameBits: true}}
	for range max(be.Workers(), 1) {
		a.workers = append(a.workers, newWorker(w, be))
	}
	return a
}

// Add adds every record of data, and each record may be added to one shard only, once; if a
// ledger is to protect users, all records of a user must be in data.
//
// Errors: synth.ErrSchema; *param.Error for a Partial not made by Plan.NewPartial. After
// synth.ErrData or the context's error the sums hold some of the records, and the Partial cannot
// be used any more.
func (a *Partial) Add(ctx context.Context, data records.Data) error {
	if a == nil || a.work == nil || a.broken {
		return param.New("merf.Partial", redacted,
			"a partial sum made by Plan.NewPartial, without a failed Add")
	}
	data = records.Clamped(data)
	if data != nil && records.Failed(data) {
		return fmt.Errorf("merf: %w", synth.ErrData)
	}
	if data == nil || !data.Schema().Equal(a.work.config.Schema) {
		return fmt.Errorf("merf: %w", synth.ErrSchema)
	}
	if err := records.CheckPersons("merf.Partial.Add", data, a.work.config.Schema); err != nil {
		return err
	}
	a.note(records.UnitOf(data), partOf(data))
	rows, shares := records.RowsOf(data)
	err := a.each(ctx, rows.Len(), func(w *worker, lo, hi int) {
		w.add(w.reader.read(rows, lo, hi), shares)
	})
	if records.Failed(data) {
		err = fmt.Errorf("merf: %w", synth.ErrData)
	}
	a.broken = err != nil
	return err
}

// note keeps the unit of the records as long as all have the same one. It falls back to the
// weakest unit if units differ or one unit may be in two pieces.
func (a *Partial) note(unit string, p parts) {
	switch {
	case unit == "":
	case a.who == "":
		a.who, a.parts = unit, p
	case a.who != unit || !a.parts.add(p):
		a.who = records.UnitRecord
	}
}

// addSample adds some records, or all rows of some persons.
func (a *Partial) addSample(ctx context.Context, data records.Data, sample []int32) error {
	rows, shares := records.RowsOf(data)
	if p, ok := records.AsPersons(data); ok {
		sample = p.AppendRows(nil, sample)
	}
	return a.each(ctx, len(sample), func(w *worker, lo, hi int) {
		w.add(w.reader.gather(rows, sample[lo:hi]), shares)
	})
}

// each cuts n rows into pieces and divides them among the workers.
func (a *Partial) each(ctx context.Context, n int, do func(w *worker, lo, hi int)) error {
	step := a.workers[0].rows()
	var group sync.WaitGroup
	errs := make([]error, len(a.workers))
	for i, w := range a.workers {
		run := func() {
			for lo := i * step; lo < n; lo += len(a.workers) * step {
				if errs[i] = ctx.Err(); errs[i] != nil {
					return
				}
				do(w, lo, min(lo+step, n))
			}
		}
		if i*step < n {
			group.Go(run)
		}
	}
	group.Wait()
	return errors.Join(errs...)
}

// Merge adds another shard's sums, which must be of an equal plan, and empties the shard: its
// records are counted in a from now on.
//
// Errors: *param.Error for a shard of another plan, or one whose Add has failed.
func (a *Partial) Merge(other *Partial) error {
	if a == nil || a.broken || other == a || !a.work.adds(other) {
		return param.New("merf.Partial.Merge", redacted,
			"another partial sum of an equal plan, without a failed Add")
	}
	a.take(other)
	return nil
}

// adds reports whether the sums of a shard are those of the plan, and complete.
func (w *work) adds(s *Partial) bool { return s != nil && !s.broken && w.sameSums(s.work) }

// take moves the sums of another Partial here, so that no record is counted in both.
func (a *Partial) take(other *Partial) {
	a.workers[0].merge(other.total())
	a.note(other.who, other.parts)
	a.loose = a.loose || other.loose
	other.reset()
}

// sameSums reports whether two plans make the same sums of the same records.
func (w *work) sameSums(o *work) bool {
	if w == nil || o == nil {
		return false
	}
	if w == o {
		return true
	}
	mine, err := w.sums()
	if err != nil {
		return false
	}
	theirs, err := o.sums()
	return err == nil && bytes.Equal(mine, theirs)
}

// sums returns everything that the sums depend on, as text.
func (w *work) sums() ([]byte, error) {
	c := *w
	c.config.Generator = GeneratorConfig{}
	config, err := c.Config()
	if err != nil {
		return nil, err
	}
	return json.Marshal([]any{c.config.Schema, c.config.Budget, config})
}

// total merges the workers' sums into the first worker's.
func (a *Partial) total() *worker {
	for _, w := range a.workers[1:] {
		a.workers[0].merge(w)
		w.reset()
	}
	return a.workers[0]
}

func (a *Partial) reset() {
	a.who, a.parts = "", parts{}
	for _, w := range a.workers {
		w.reset()
	}
}

// ErrPrivate is returned by attempts to write private sums without noise.
var ErrPrivate = errors.New("merf: sums without noise are private and cannot be written")

const redacted = "[private]"

// Format prints [private] whatever the verb.
func (a *Partial) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// LogValue returns [private].
func (a *Partial) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns ErrPrivate; package encoding/json asks for it.
func (a *Partial) MarshalText() ([]byte, error) { return nil, ErrPrivate }

// MarshalBinary returns ErrPrivate; package encoding/gob asks for it.
func (a *Partial) MarshalBinary() ([]byte, error) { return nil, ErrPrivate }
