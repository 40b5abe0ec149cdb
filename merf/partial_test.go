package merf_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestOneSumWhateverTheWay checks that Embed on one and on two cores, EmbedStream and Release of
// shards release the same bits if the noise is the same.
func TestOneSumWhateverTheWay(t *testing.T) {
	data := drawTable(t, 1000, 1)
	kernel := rff.RBF{Dim: 40000, Bandwidth: 1} // so that a piece has few rows
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernel))
	seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 5) }
	l := func() *ledger.Ledger { return ledger.New(p.Config.Budget) }
	cuts := []int{0, 17, 500, 501, 1000}
	stream := func(yield func(records.Data, error) bool) {
		for i := 1; i < len(cuts); i++ {
			if !yield(data.Slice(cuts[i-1], cuts[i]), nil) {
				return
			}
		}
	}
	var shards []*mechanism.Partial
	for i := len(cuts) - 1; i > 0; i-- {
		s := p.NewPartial(synth.On(device.CPUWith(1 + i%2)))
		if err := s.Add(context.Background(), data.Slice(cuts[i-1], cuts[i])); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, s)
	}
	if err := shards[0].Merge(shards[1]); err != nil {
		t.Fatal(err)
	}
	shards = slices.Delete(shards, 1, 2)
	one, err1 := p.Embed(seeded(), l(), data, synth.On(device.CPUWith(1)))
	two, err2 := p.Embed(seeded(), l(), data, synth.On(device.CPUWith(2)))
	three, err3 := p.EmbedStream(seeded(), l(), stream)
	four, err4 := p.Release(seeded(), l(), shards)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for i, e := range []*merf.Embedding{two, three, four} {
		if !reflect.DeepEqual(e.Counts(), one.Counts()) || !reflect.DeepEqual(e.Sum(1), one.Sum(1)) {
			t.Errorf("way %d releases other sums than way 1", i+2)
		}
	}
}

// TestPrivateSumsDoNotLeak checks that printing and logging a sum show only [private], and that
// encoding it is an error.
func TestPrivateSumsDoNotLeak(t *testing.T) {
	data := drawTable(t, 10, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	s := p.NewPartial()
	if err := s.Add(context.Background(), data); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %d %s", s, s, s, s, s)} {
		if strings.Trim(strings.ReplaceAll(text, "[private]", ""), " ") != "" {
			t.Errorf("a sum prints as %q, want only [private]", text)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("sums", "partial", s)
	if !strings.Contains(log.String(), "partial=[private]") {
		t.Errorf("a sum is logged as %q, want [private]", log.String())
	}
	if _, err := json.Marshal(s); !errors.Is(err, mechanism.ErrPrivate) {
		t.Errorf("JSON: got %v, want ErrPrivate", err)
	}
	if err := gob.NewEncoder(&log).Encode(s); !errors.Is(err, mechanism.ErrPrivate) {
		t.Errorf("gob: got %v, want ErrPrivate", err)
	}
}

// TestShardsOfAnotherPlan checks that sums of another plan are refused before anything is spent.
func TestShardsOfAnotherPlan(t *testing.T) {
	data := drawTable(t, 10, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	c := p.Config
	c.Seed++
	other := mustPlan(t, c)
	l := ledger.New(c.Budget)
	var wrong *param.Error
	_, err := p.Release(context.Background(), l, []*mechanism.Partial{other.NewPartial()})
	if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
		t.Errorf("another plan's sums: got %v, want *param.Error; ledger entries %v, want none", err,
			l.Entries())
	}
	s := p.NewPartial()
	for _, o := range []*mechanism.Partial{nil, s, other.NewPartial()} {
		if err := s.Merge(o); !errors.As(err, &wrong) {
			t.Errorf("merging %v: got %v, want *param.Error", o, err)
		}
	}
	if err := s.Merge(mustPlan(t, p.Config).NewPartial()); err != nil {
		t.Errorf("the sums of an equal plan: got %v, want no error", err)
	}
}

// TestStreamsThatFail checks that the error of a stream ends the run. A nil piece, a piece of
// another schema, a piece of a smaller unit than the ledger's and a piece that panics must end it
// too.
func TestStreamsThatFail(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	broken := errors.New("no more")
	users := ledger.New(c.Budget, ledger.WithUnit(records.UnitUser))
	run := func(l *ledger.Ledger, d records.Data, failed error) error {
		if l == nil {
			l = ledger.New(c.Budget)
		}
		_, err := p.EmbedStream(t.Context(), l, func(yield func(records.Data, error) bool) {
			if yield(records.WithUnit(data, l.Unit()), nil) {
				yield(d, failed)
			}
		})
		return err
	}
	var wrong *param.Error
	if err := run(nil, nil, broken); !errors.Is(err, broken) {
		t.Errorf("a stream that fails: got %v, want its error", err)
	}
	if err := run(nil, data.WithoutLabels(), nil); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("a piece of another schema: got %v, want ErrSchema", err)
	}
	if err := run(nil, nil, nil); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("a nil piece: got %v, want ErrSchema", err)
	}
	if err := run(nil, panics{data}, nil); !errors.Is(err, synth.ErrData) {
		t.Errorf("a piece that panics: got %v, want ErrData", err)
	}
	if err := run(users, data, nil); !errors.As(err, &wrong) {
		t.Errorf("records on a ledger for users: got %v, want *param.Error", err)
	}
	if err := run(nil, data, nil); err != nil {
		t.Error(err)
	}
}

// panics are records whose rows cannot be read.
type panics struct{ records.Data }

func (panics) Range(int, int, *device.Batch) { panic("private") }
func (panics) Gather([]int32, *device.Batch) { panic("private") }

// TestSumsThatFailedAreOfNoUse checks that a sum cannot be used after its Add has failed, because
// then an unknown part of the records is in it. Add fails here because its context has ended or
// because the data panic.
func TestSumsThatFailedAreOfNoUse(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p, l := mustPlan(t, c), ledger.New(c.Budget)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fail := range map[string]func(*mechanism.Partial) error{
		"context": func(s *mechanism.Partial) error { return s.Add(ended, data) },
		"panic":   func(s *mechanism.Partial) error { return s.Add(t.Context(), panics{data}) },
	} {
		s := p.NewPartial()
		if err := fail(s); !errors.Is(err, context.Canceled) && !errors.Is(err, synth.ErrData) {
			t.Errorf("%s: got %v, want context.Canceled or ErrData", name, err)
		}
		_, released := p.Release(t.Context(), l, []*mechanism.Partial{p.NewPartial(), s})
		var wrong *param.Error
		for use, err := range map[string]error{"add": s.Add(t.Context(), data), "release": released,
			"merge": p.NewPartial().Merge(s), "merge into": s.Merge(p.NewPartial())} {
			if !errors.As(err, &wrong) {
				t.Errorf("%s, then %s: got %v, want *param.Error", name, use, err)
			}
		}
	}
	whole := p.NewPartial()
	if err := whole.Add(t.Context(), data.WithoutLabels()); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("another schema: got %v, want ErrSchema", err)
	}
	if err := whole.Add(t.Context(), data); err != nil {
		t.Errorf("Add after data of another schema were refused: got %v, want no error", err)
	}
	if len(l.Entries()) > 0 {
		t.Errorf("the ledger has entries %v, want none", l.Entries())
	}
}
