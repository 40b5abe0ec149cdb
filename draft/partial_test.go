package draft_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// TestShardsGiveTheSameDraft: counts of sealed shards give the same draft and the same ledger as
// all records at once, even if a shard is opened or released twice.
func TestShardsGiveTheSameDraft(t *testing.T) {
	data := people(t, 900)
	for _, r := range relations {
		p, key := planned(t, config(t, r)), mechanism.NewKey()
		seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 3) }
		one, two := ledger.New(p.Config.Budget), ledger.New(p.Config.Budget)
		want, err := draft.Fit(seeded(), p, data, one)
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.NewPartial()
		if err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < data.Len(); lo += 400 {
			shard, err := planned(t, config(t, r)).NewPartial()
			if err != nil {
				t.Fatal(err)
			}
			if err := shard.Add(t.Context(), data.Slice(lo, min(lo+400, data.Len()))); err != nil {
				t.Fatal(err)
			}
			b, err := shard.Seal(key, mechanism.Shard{Name: fmt.Sprint(lo)})
			if err != nil {
				t.Fatal(err)
			}
			if err := all.Open(key, b, b); err != nil {
				t.Fatal(err)
			}
		}
		got, err := draft.Release(seeded(), p, []*mechanism.Partial{all, all}, two)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Columns, want.Columns) || !got.Schema.Equal(want.Schema) {
			t.Errorf("%v: the shards give another draft", r)
		}
		if !reflect.DeepEqual(one.Entries(), two.Entries()) {
			t.Errorf("%v: the ledger has %v, want %v", r, two.Entries(), one.Entries())
		}
	}
}

// TestShardsOfOthersAreRefused: shards that do not fit are an error before anything is spent.
func TestShardsOfOthersAreRefused(t *testing.T) {
	data := people(t, 20)
	p := planned(t, config(t, accountant.AddOrRemoveOne))
	shard := func(p *draft.Plan, d records.Data) *mechanism.Partial {
		s, err := p.NewPartial()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := config(t, accountant.AddOrRemoveOne)
	c.BinsPerDoubling = 2
	users := records.WithUnit(data, records.UnitUser)
	for name, test := range map[string]struct {
		unit   string
		shards []*mechanism.Partial
		ok     bool
	}{
		"records":      {records.UnitRecord, []*mechanism.Partial{shard(p, data)}, true},
		"none":         {records.UnitRecord, nil, false},
		"nil":          {records.UnitRecord, []*mechanism.Partial{nil}, false},
		"another plan": {records.UnitRecord, []*mechanism.Partial{shard(planned(t, c), data)}, false},
		"rows":         {records.UnitUser, []*mechanism.Partial{shard(p, data)}, false},
		"users":        {records.UnitUser, []*mechanism.Partial{shard(p, users)}, true},
		"users twice":  {records.UnitUser, []*mechanism.Partial{shard(p, users), shard(p, users)}, false},
	} {
		l := ledger.New(p.Config.Budget, ledger.WithUnit(test.unit))
		_, err := draft.Release(t.Context(), p, test.shards, l)
		var wrong *param.Error
		if test.ok != (err == nil) || !test.ok && (!errors.As(err, &wrong) || len(l.Entries()) > 0) {
			t.Errorf("%s: got error %v and entries %v", name, err, l.Entries())
		}
	}
}
