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
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestOneSumWhateverTheWay: all at once, as a stream, over shards, on one core or on two, with
// equal noise the same bits are released.
func TestOneSumWhateverTheWay(t *testing.T) {
	data := drawTable(t, 1000, 1)
	kernel := rff.RBF{Dim: 40000, Bandwidth: 1} // few rows a piece
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernel))
	seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 5) }
	ledger := func() *accountant.Ledger { return accountant.NewLedger(p.Config.Budget) }
	cuts := []int{0, 17, 500, 501, 1000}
	stream := func(yield func(records.Data, error) bool) {
		for i := 1; i < len(cuts); i++ {
			if !yield(data.Slice(cuts[i-1], cuts[i]), nil) {
				return
			}
		}
	}
	var shards []*merf.Partial
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
	one, err1 := p.Embed(seeded(), ledger(), data, synth.On(device.CPUWith(1)))
	two, err2 := p.Embed(seeded(), ledger(), data, synth.On(device.CPUWith(2)))
	three, err3 := p.EmbedStream(seeded(), ledger(), stream)
	four, err4 := p.Release(seeded(), ledger(), shards)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for i, e := range []*merf.Embedding{two, three, four} {
		if !reflect.DeepEqual(e.Counts(), one.Counts()) || !reflect.DeepEqual(e.Sum(1), one.Sum(1)) {
			t.Errorf("way %d releases other sums", i+2)
		}
	}
}

// TestPrivateSumsDoNotLeak: printing, logging and encoding reveal nothing.
func TestPrivateSumsDoNotLeak(t *testing.T) {
	data := drawTable(t, 10, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	s := p.NewPartial()
	if err := s.Add(context.Background(), data); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %d %s", s, s, s, s, s)} {
		if strings.Trim(strings.ReplaceAll(text, "[private]", ""), " ") != "" {
			t.Errorf("it prints %q", text)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("sums", "partial", s)
	if !strings.Contains(log.String(), "partial=[private]") {
		t.Errorf("it logs %q", log.String())
	}
	if _, err := json.Marshal(s); !errors.Is(err, merf.ErrPrivate) {
		t.Errorf("JSON: %v", err)
	}
	if err := gob.NewEncoder(&log).Encode(s); !errors.Is(err, merf.ErrPrivate) {
		t.Errorf("gob: %v", err)
	}
}

// TestShardsOfAnotherPlan: they are refused before anything is spent.
func TestShardsOfAnotherPlan(t *testing.T) {
	data := drawTable(t, 10, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	c := p.Config
	c.Seed++
	other := mustPlan(t, c)
	ledger := accountant.NewLedger(c.Budget)
	var wrong *param.Error
	_, err := p.Release(context.Background(), ledger, []*merf.Partial{other.NewPartial()})
	if !errors.As(err, &wrong) || len(ledger.Entries()) > 0 {
		t.Errorf("another plan's sums: %v, ledger %v", err, ledger.Entries())
	}
	s := p.NewPartial()
	for _, o := range []*merf.Partial{nil, s, other.NewPartial()} {
		if err := s.Merge(o); !errors.As(err, &wrong) {
			t.Errorf("merging %v: %v", o, err)
		}
	}
	if err := s.Merge(mustPlan(t, p.Config).NewPartial()); err != nil {
		t.Errorf("an equal plan's sums: %v", err)
	}
}

// TestStreamsThatFail: a stream that fails ends the run with its own error; a piece of another
// schema, of a smaller unit than the ledger's, or that breaks its promises ends it, too.
func TestStreamsThatFail(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	broken := errors.New("no more")
	users := accountant.NewLedger(c.Budget, accountant.WithUnit(records.UnitUser))
	run := func(ledger *accountant.Ledger, d records.Data, failed error) error {
		if ledger == nil {
			ledger = accountant.NewLedger(c.Budget)
		}
		_, err := p.EmbedStream(t.Context(), ledger, func(yield func(records.Data, error) bool) {
			if yield(records.WithUnit(data, ledger.Unit()), nil) {
				yield(d, failed)
			}
		})
		return err
	}
	var wrong *param.Error
	if err := run(nil, nil, broken); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
	if err := run(nil, data.WithoutLabels(), nil); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("a piece of another schema: %v", err)
	}
	if err := run(nil, nil, nil); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("no piece: %v", err)
	}
	if err := run(nil, panics{data}, nil); !errors.Is(err, synth.ErrData) {
		t.Errorf("a piece that panics: %v", err)
	}
	if err := run(users, data, nil); !errors.As(err, &wrong) {
		t.Errorf("records on a ledger for users: %v", err)
	}
	if err := run(nil, data, nil); err != nil {
		t.Error(err)
	}
}

// panics are records whose rows cannot be read.
type panics struct{ records.Data }

func (panics) Range(int, int, *device.Batch) { panic("private") }
func (panics) Gather([]int32, *device.Batch) { panic("private") }

// TestSumsThatFailedAreOfNoUse: after a context that ended, or data that panicked, some of the
// records are in the sums, and nothing can be made of them any more.
func TestSumsThatFailedAreOfNoUse(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p, ledger := mustPlan(t, c), accountant.NewLedger(c.Budget)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fail := range map[string]func(*merf.Partial) error{
		"context": func(s *merf.Partial) error { return s.Add(ended, data) },
		"panic":   func(s *merf.Partial) error { return s.Add(t.Context(), panics{data}) },
	} {
		s := p.NewPartial()
		if err := fail(s); !errors.Is(err, context.Canceled) && !errors.Is(err, synth.ErrData) {
			t.Errorf("%s: %v", name, err)
		}
		_, released := p.Release(t.Context(), ledger, []*merf.Partial{p.NewPartial(), s})
		var wrong *param.Error
		for use, err := range map[string]error{"add": s.Add(t.Context(), data), "release": released,
			"merge": p.NewPartial().Merge(s), "merge into": s.Merge(p.NewPartial())} {
			if !errors.As(err, &wrong) {
				t.Errorf("%s, then %s: %v", name, use, err)
			}
		}
	}
	whole := p.NewPartial()
	if err := whole.Add(t.Context(), data.WithoutLabels()); !errors.Is(err, synth.ErrSchema) {
		t.Errorf("another schema: %v", err)
	}
	if err := whole.Add(t.Context(), data); err != nil {
		t.Errorf("data that were refused whole leave the sums as they were: %v", err)
	}
	if len(ledger.Entries()) > 0 {
		t.Errorf("%v is reserved", ledger.Entries())
	}
}
