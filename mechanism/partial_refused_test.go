package mechanism_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// failing is data that say, at once or after they have been read, that they failed.
type failing struct {
	records.Data
	asked, after int
}

func (f *failing) Failed() bool { f.asked++; return f.asked > f.after }

// TestRecordsThatSumsRefuse: sums take no records that failed, of another schema, or after they
// belong to a shard. Sums that hold some of the records cannot be used.
func TestRecordsThatSumsRefuse(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	other := must(records.FromFlat(records.Interval(dim, 0, 2), make([]float32, dim)))(t)
	for what, c := range map[string]struct {
		data records.Data
		want error
	}{
		"no data": {nil, mechanism.ErrSchema}, "another schema": {other, mechanism.ErrSchema},
		"failed data": {&failing{Data: rows(t, 1, 2)}, records.ErrData},
	} {
		a := empty(p)
		if err := a.Add(t.Context(), c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
		if a.Unit() != "" || a.Sums()[0].Exact()[0] != 0 {
			t.Errorf("%s: the sums hold records", what)
		}
	}
	for what, add := range map[string]func(a *mechanism.Partial) error{
		"data that fail while they are read": func(a *mechanism.Partial) error {
			return a.Add(t.Context(), &failing{Data: rows(t, 1, 2), after: 1})
		},
		"an interrupted addition": func(a *mechanism.Partial) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return a.Add(ctx, rows(t, 1, 2))
		},
	} {
		a, whole := empty(p), of(t, p, 1)
		if err := add(a); err == nil {
			t.Errorf("%s: no error", what)
		}
		_, sealing := a.Seal(k, mechanism.Shard{Name: "one"})
		for _, err := range []error{a.Add(t.Context(), rows(t, 1, 2)), whole.Merge(a), sealing,
			mechanism.CheckPartials("x", p, records.UnitRecord, whole, a)} {
			if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
				t.Errorf("%s: then got %v, want a *param.Error", what, err)
			}
		}
		if a.ID() != (mechanism.PassID{}) || a.Sums() != nil || a.Like(whole) || whole.Like(a) {
			t.Errorf("%s: the sums can be used", what)
		}
	}
	opened := empty(p)
	if err := opened.Open(k, sealed(t, k, p, 1)); err != nil {
		t.Fatal(err)
	}
	before := opened.Sums()[0].Exact()
	if wrong := (*param.Error)(nil); !errors.As(opened.Add(t.Context(), rows(t, 2, 3)), &wrong) ||
		opened.Sums()[0].Exact()[0] != before[0] {
		t.Error("sums of a shard take records")
	}
	added, begun := of(t, p, 3), empty(p)
	if err := begun.Begin("one"); err != nil {
		t.Fatal(err)
	}
	for what, a := range map[string]*mechanism.Partial{"of a shard": opened, "of records": added,
		"that have begun": begun} {
		if wrong := (*param.Error)(nil); !errors.As(a.Begin("two"), &wrong) {
			t.Errorf("sums %s begin another shard", what)
		}
	}
	if opened.ID() != p || !opened.Like(of(t, p, 2)) || opened.Like(of(t, pass(t, "others"), 2)) {
		t.Error("sums are of their pass")
	}
	if a, b := mechanism.LocalPassID(), mechanism.LocalPassID(); a == b || a == (mechanism.PassID{}) {
		t.Error("two passes of one process are equal")
	}
	people := must(records.GroupBy(rows(t, 1, 4), []int{1, 1, 2, 2}, 2))(t)
	if err := empty(p).Add(t.Context(), people); err == nil {
		t.Error("sums of rows take persons")
	}
	grouped := mechanism.NewPartial(p, people.Schema(), adder{mechanism.NewFixedSum(dim, 1)}, false)
	if err := grouped.Add(t.Context(), rows(t, 1, 4)); err == nil {
		t.Error("sums of persons take rows")
	}
	for promised, fits := range map[string]bool{records.UnitRecord: false, records.UnitUser: true} {
		if err := mechanism.CheckPartials("x", p, promised, grouped); (err == nil) != fits {
			t.Errorf("sums of persons on a ledger of one %s: %v", promised, err)
		}
	}
}

// TestLargerSumsKeepTheirUnit: sums that replace those of some of their shards bring their unit and
// its parts with them.
func TestLargerSumsKeepTheirUnit(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	var shards [][]byte
	for part, name := range []string{"a", "b"} {
		b := must(ofUsers(t, p, 3, part).Seal(k, mechanism.Shard{Name: name}))(t)
		shards = append(shards, b)
	}
	one, both := empty(p), empty(p)
	if err := errors.Join(one.Open(k, shards[0]), both.Open(k, shards...)); err != nil {
		t.Fatal(err)
	}
	if err := one.Merge(both); err != nil || one.Unit() != records.UnitUser ||
		len(one.Shards()) != 2 {
		t.Errorf("the sums are of %v, of the unit %q (%v)", one.Shards(), one.Unit(), err)
	}
	if err := mechanism.CheckPartials("x", p, records.UnitRecord, one); err == nil {
		t.Error("sums of users are released on a ledger of records")
	}
	if err := one.Merge(ofUsers(t, p, 3, 1)); err != nil || one.Unit() != records.UnitPart {
		t.Errorf("a part that is counted already: unit %q (%v)", one.Unit(), err)
	}
}
