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
)

// TestOneSumWhateverTheWay: all at once, as a stream, over shards, on one core or on two, with equal noise the same
// bits are released.
func TestOneSumWhateverTheWay(t *testing.T) {
	data := drawTable(t, 1000, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, rff.RBF{Dim: 40000, Bandwidth: 1})) // few rows a piece
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
		s := p.NewPartial(merf.WithBackend(device.CPUWith(1 + i%2)))
		if err := s.Add(context.Background(), data.Slice(cuts[i-1], cuts[i])); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, s)
	}
	if err := shards[0].Merge(shards[1]); err != nil {
		t.Fatal(err)
	}
	shards = slices.Delete(shards, 1, 2)
	one, err1 := merf.Embed(seeded(), p, data, ledger(), merf.WithBackend(device.CPUWith(1)))
	two, err2 := merf.Embed(seeded(), p, data, ledger(), merf.WithBackend(device.CPUWith(2)))
	three, err3 := merf.EmbedStream(seeded(), p, stream, ledger())
	four, err4 := merf.Release(seeded(), p, ledger(), shards)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for i, e := range []*merf.Embedding{two, three, four} {
		if !reflect.DeepEqual(e.Counts(), one.Counts()) || !reflect.DeepEqual(e.Sum(1), one.Sum(1)) {
			t.Errorf("way %d releases other sums", i+2)
		}
	}
}

// TestPrivateSumsDoNotLeak by printing, logging or encoding.
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

// TestShardsOfAnotherPlan are refused, before anything is spent.
func TestShardsOfAnotherPlan(t *testing.T) {
	data := drawTable(t, 10, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"]))
	c := p.Config
	c.Seed++
	other := mustPlan(t, c)
	ledger := accountant.NewLedger(c.Budget)
	var wrong *param.Error
	if _, err := merf.Release(context.Background(), p, ledger, []*merf.Partial{other.NewPartial()}); !errors.As(err, &wrong) || len(ledger.Entries()) > 0 {
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

// TestWhatIsPublicIsJudgedFirst: wrong schemas, ledgers and streams are told before anything is spent.
func TestWhatIsPublicIsJudgedFirst(t *testing.T) {
	ctx, data := context.Background(), drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	ledger := accountant.NewLedger(c.Budget)
	other := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: accountant.ReplaceOne})
	var param *param.Error
	if _, err := merf.Embed(ctx, p, data.WithoutLabels(), ledger); !errors.Is(err, merf.ErrSchema) {
		t.Errorf("another schema: %v", err)
	}
	_, err1 := merf.Embed(ctx, p, nil, ledger)
	_, err2 := merf.Embed(ctx, p, data, nil)
	_, err3 := merf.Embed(ctx, p, data, other)
	_, err4 := merf.Embed(ctx, &merf.Plan{}, data, ledger)
	_, err5 := merf.EmbedStream(ctx, p, nil, ledger)
	c.Batches = merf.Batches{Probability: 0.1, Steps: 2}
	batches := mustPlan(t, c)
	_, err6 := merf.EmbedStream(ctx, batches, func(func(records.Data, error) bool) {}, ledger)
	_, err7 := merf.Release(ctx, batches, ledger, nil)
	_, err8 := merf.Train(ctx, nil, quick)
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8} {
		if !errors.As(err, &param) {
			t.Errorf("mistake %d: %v", i+1, err)
		}
	}
	if len(ledger.Entries()) > 0 {
		t.Errorf("something was spent: %v", ledger.Entries())
	}
	broken := errors.New("no more")
	if _, err := merf.EmbedStream(ctx, p, func(yield func(records.Data, error) bool) { yield(nil, broken) }, ledger); !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
}
