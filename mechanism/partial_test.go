package mechanism_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

const dim = 3

// adder adds up the coordinates of records.
type adder struct{ sum *mechanism.FixedSum }

func (a adder) Add(ctx context.Context, data records.Data) error {
	var b device.Batch
	data.Range(0, data.Len(), &b)
	for i := range b.Rows {
		a.sum.AddRow(b.Dense.Row(i), 1)
	}
	return ctx.Err()
}

func (a adder) Sums() []*mechanism.FixedSum { return []*mechanism.FixedSum{a.sum} }

var schema = records.Interval(dim, 0, 1)

func pass(t testing.TB, name string) mechanism.PassID {
	t.Helper()
	return must(mechanism.NewPassID(name, schema))(t)
}

func empty(p mechanism.PassID) *mechanism.Partial {
	return mechanism.NewPartial(p, schema, adder{mechanism.NewFixedSum(dim, 0x1p-20)}, false)
}

// rows returns n records that the seed determines.
func rows(t testing.TB, seed uint64, n int) records.Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	flat := make([]float32, n*dim)
	for i := range flat {
		flat[i] = rng.Float32()
	}
	return must(records.FromFlat(schema, flat))(t)
}

// of returns the sums of one shard. Its number determines its records.
func of(t testing.TB, p mechanism.PassID, number int) *mechanism.Partial {
	t.Helper()
	s := empty(p)
	if err := s.Add(t.Context(), rows(t, uint64(number), 40+number)); err != nil {
		t.Fatal(err)
	}
	return s
}

func sealed(t testing.TB, k mechanism.Key, p mechanism.PassID, number int) []byte {
	t.Helper()
	return must(of(t, p, number).Seal(k, mechanism.Shard{Name: fmt.Sprint("shard ", number)}))(t)
}

// values reads sums by a release with almost no noise.
func values(t testing.TB, a *mechanism.Partial) []float64 {
	t.Helper()
	l := ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5})
	ctx := privacytest.Seeded(t, context.Background(), 1)
	grant, err := mechanism.Begin(ctx, l).Spend("test", accountant.Gaussian{NoiseMultiplier: 1})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, dim)
	err = grant.Release(0.5, mechanism.Part{Sum: a.Sums()[0], Std: 0x1p-10, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestShardsCountOnce: the result is the sum over all records, for any order of the shards, and for
// any number of attempts and deliveries of each shard.
func TestShardsCountOnce(t *testing.T) {
	const shards = 7
	p, k := pass(t, "sums"), mechanism.NewKey()
	whole := empty(p)
	for i := range shards {
		if err := whole.Merge(of(t, p, i)); err != nil {
			t.Fatal(err)
		}
	}
	want := values(t, whole)
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var arrived [][]byte
		for i := range shards {
			for range 1 + rng.IntN(3) { // several attempts, the last of which is delivered twice
				arrived = append(arrived, sealed(t, k, p, i))
			}
			arrived = append(arrived, arrived[len(arrived)-1])
		}
		rng.Shuffle(len(arrived), func(i, j int) { arrived[i], arrived[j] = arrived[j], arrived[i] })
		all := empty(p)
		if err := all.Open(k, arrived...); err != nil {
			t.Fatal(err)
		}
		if got := values(t, all); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
		if n := len(all.Shards()); n != shards {
			t.Fatalf("seed %d: got a wrong number of shards, %d", seed, n)
		}
	}
}

// TestMergedSumsAreEmpty: merged records are counted in one place only.
func TestMergedSumsAreEmpty(t *testing.T) {
	p := pass(t, "sums")
	one, two, other := empty(p), empty(p), of(t, p, 3)
	if err := errors.Join(one.Merge(other), two.Merge(other)); err != nil {
		t.Fatal(err)
	}
	if got, want := values(t, two), values(t, empty(p)); !slices.Equal(got, want) {
		t.Errorf("records are in two sums: %v, want %v", got, want)
	}
	if got, want := values(t, one), values(t, of(t, p, 3)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGroupsOfShards: merged sums are sealed under the names of all their shards. A group counts
// once. A group that contains all counted shards replaces them. A group that contains only some of
// them, and other shards, is refused.
func TestGroupsOfShards(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	group := func(numbers ...int) []byte {
		g := empty(p)
		for _, i := range numbers {
			if err := g.Open(k, sealed(t, k, p, i)); err != nil {
				t.Fatal(err)
			}
		}
		return must(g.Seal(k, mechanism.Shard{}))(t)
	}
	three := empty(p)
	if err := three.Open(k, group(0, 1, 2)); err != nil {
		t.Fatal(err)
	}
	want := values(t, three)
	for name, arrived := range map[string][][]byte{
		"all at once":   {group(0, 1, 2)},
		"apart":         {group(0, 1), group(2)},
		"twice":         {group(0, 1), group(2), group(1, 0), group(2)},
		"whole in part": {group(0, 1, 2), group(1), sealed(t, k, p, 2), group(0, 2)},
		"part in whole": {group(1), group(0, 1, 2)},
	} {
		all := empty(p)
		if err := all.Open(k, arrived...); err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		} else if got := values(t, all); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	all := empty(p)
	var wrong *param.Error
	if err := all.Open(k, group(0, 1), group(1, 2)); !errors.As(err, &wrong) {
		t.Errorf("groups with a shard in common: got error %v, want *param.Error", err)
	}
	a, b := empty(p), empty(p)
	if err := errors.Join(a.Open(k, group(0, 1)), b.Open(k, group(1, 2))); err != nil {
		t.Fatal(err)
	}
	if err := mechanism.CheckPartials("test", p, records.UnitRecord, a, b); !errors.As(err, &wrong) {
		t.Errorf("checking groups with a shard in common: got error %v, want *param.Error", err)
	}
}

// TestNamesOfShards: sums have one name, and no record can be added to named sums.
func TestNamesOfShards(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	var wrong *param.Error
	named := of(t, p, 1)
	if _, err := named.Seal(k, mechanism.Shard{}); !errors.As(err, &wrong) {
		t.Errorf("no name: got error %v, want *param.Error", err)
	}
	for range 2 {
		if _, err := named.Seal(k, mechanism.Shard{Name: "one"}); err != nil {
			t.Errorf("one name: got error %v, want none", err)
		}
	}
	if _, err := named.Seal(k, mechanism.Shard{Name: "two"}); !errors.As(err, &wrong) {
		t.Errorf("a second name for the same records: got error %v, want *param.Error", err)
	}
	if err := named.Add(t.Context(), rows(t, 1, 1)); !errors.As(err, &wrong) {
		t.Errorf("a further record: got error %v, want *param.Error", err)
	}
	if err := named.Merge(of(t, p, 2)); err != nil {
		t.Errorf("merging sums without a name: got error %v, want none", err)
	}
	if _, err := named.Seal(k, mechanism.Shard{Name: "one"}); !errors.As(err, &wrong) {
		t.Errorf("sealing sums with records of no shard: got error %v, want *param.Error", err)
	}
	if _, err := empty(p).Seal(mechanism.Key{}, mechanism.Shard{Name: "x"}); !errors.As(err, &wrong) {
		t.Errorf("no key: got error %v, want *param.Error", err)
	}
}

// TestSealedSumsAreBound: sealed sums are bound to their key, pass, shard and attempt, and any
// changed byte is detected.
func TestSealedSumsAreBound(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	good := sealed(t, k, p, 1)
	if err := empty(p).Open(k, good); err != nil {
		t.Fatal(err)
	}
	var wrong *param.Error
	if err := empty(pass(t, "other")).Open(k, good); !errors.As(err, &wrong) {
		t.Errorf("sums of another plan: got error %v, want *param.Error", err)
	}
	if err := empty(p).Open(mechanism.NewKey(), good); !errors.Is(err, mechanism.ErrSealed) {
		t.Errorf("another key: got error %v, want ErrSealed", err)
	}
	coarse := mechanism.NewPartial(p, schema, adder{mechanism.NewFixedSum(dim, 0x1p-19)}, false)
	if err := coarse.Open(k, good); !errors.As(err, &wrong) {
		t.Errorf("the same whole numbers on another grid: got error %v and values %v, want *param.Error",
			err, values(t, coarse))
	}
	if err := coarse.Merge(of(t, p, 1)); !errors.As(err, &wrong) {
		t.Errorf("sums on another grid are merged: %v", err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1
		o := empty(p)
		if err := o.Open(k, bad); err == nil {
			t.Errorf("byte %d of %d changed: Open returns shards %v", i, len(good), o.Shards())
		}
		if err := empty(p).Open(k, good[:i]); err == nil {
			t.Errorf("cut to %d bytes: Open returns no error", i)
		}
	}
	for _, old := range []string{"shard 1", "attempt", `"steps"`} {
		renamed := bytes.Replace(good, []byte(old), []byte(strings.ToUpper(old)), 1)
		if err := empty(p).Open(k, renamed); err == nil {
			t.Errorf("%s renamed: Open returns no error", old)
		}
	}
}

// TestSealedSumsTellNothing: without the key, sealed sums reveal nothing. No sum is in the bytes,
// and equal sums are sealed to different bytes. The length does not depend on the records.
func TestSealedSumsTellNothing(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	seal := func(n int) []byte {
		s := empty(p)
		if n > 0 {
			if err := s.Add(t.Context(), rows(t, 1, n)); err != nil {
				t.Fatal(err)
			}
		}
		return must(s.Seal(k, mechanism.Shard{Name: "s", Attempt: "a"}))(t)
	}
	one, again, many, none := seal(1), seal(1), seal(1000), seal(0)
	if len(one) != len(many) || len(one) != len(none) {
		t.Errorf("no record takes %d bytes, one %d, many %d", len(none), len(one), len(many))
	}
	clear, _, _ := bytes.Cut(one, []byte("]}"))
	if !bytes.HasPrefix(many, clear) || !bytes.HasPrefix(none, clear) {
		t.Errorf("the header reveals whether there are records: %s, without records %s", clear,
			none[:len(clear)])
	}
	users := empty(p)
	for part := range 300 { // users in some of 1000 parts
		data := records.WithPart(records.WithUnit(rows(t, 1, 5), records.UnitUser), 2*part, 1000)
		if err := users.Add(t.Context(), data); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := users.Seal(k, mechanism.Shard{Name: "s", Attempt: "a"}); err != nil ||
		len(b) != len(none) || !bytes.HasPrefix(b, clear) {
		t.Errorf("users in parts take %d bytes, no record takes %d: error %v", len(b), len(none), err)
	}
	tail := 8 * dim
	if bytes.Equal(one[len(one)-tail:], again[len(again)-tail:]) {
		t.Error("the same sums are sealed to the same bytes")
	}
	if bytes.Contains(none, make([]byte, 8)) {
		t.Error("zero sums are not encrypted")
	}
}

// TestUnitsTravel: units are sealed with the sums. A user may be in two shards unless these state
// different parts.
func TestUnitsTravel(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	shard := func(name string, part, of int) []byte {
		s := empty(p)
		data := records.WithUnit(rows(t, 1, 5), records.UnitUser)
		if of > 0 {
			data = records.WithPart(data, part, of)
		}
		if err := s.Add(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		return must(s.Seal(k, mechanism.Shard{Name: name}))(t)
	}
	none, err := empty(p).Seal(k, mechanism.Shard{Name: "none"}) // a shard without records has no unit
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		list [][]byte
		want string
	}{
		"one":       {[][]byte{shard("a", 0, 0)}, records.UnitUser},
		"one twice": {[][]byte{shard("a", 0, 0), shard("a", 0, 0)}, records.UnitUser},
		"two":       {[][]byte{shard("a", 0, 0), shard("b", 0, 0)}, records.UnitPart},
		"parts":     {[][]byte{shard("a", 0, 2), shard("b", 1, 2)}, records.UnitUser},
		"one part":  {[][]byte{shard("a", 1, 2), shard("b", 1, 2)}, records.UnitPart},
		"many parts": {[][]byte{shard("a", 70, 100), shard("b", 99, 100)},
			records.UnitUser},
		"one and none": {[][]byte{shard("a", 0, 0), none}, records.UnitUser},
	} {
		all := empty(p)
		if err := all.Open(k, c.list...); err != nil {
			t.Fatal(err)
		}
		b := must(all.Seal(k, mechanism.Shard{}))(t)
		again := empty(p)
		if err := again.Open(k, b); err != nil {
			t.Fatal(err)
		}
		if all.Unit() != c.want || again.Unit() != c.want {
			t.Errorf("%s: %q, sealed again %q, want %q", name, all.Unit(), again.Unit(), c.want)
		}
	}
}

// TestNothingPrints: sums and keys do not print their content.
func TestNothingPrints(t *testing.T) {
	s, k := of(t, pass(t, "sums"), 1), mechanism.NewKey()
	type holder struct {
		Sums *mechanism.Partial
		key  mechanism.Key
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %d %s %x", s, s, s, s, s, k),
		fmt.Sprintf("%v %+v %#v %s", k, k, k, k)} {
		if strings.Trim(strings.ReplaceAll(text, "[private]", ""), " ") != "" {
			t.Errorf("sums or keys print %q", text)
		}
	}
	secret := fmt.Sprintf("%v", k.Secret())
	if text := fmt.Sprintf("%+v %s", holder{s, k}, holder{s, k}); strings.Contains(text,
		secret[1:len(secret)-1]) {
		t.Errorf("a struct prints the key: %q", text)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "sums", s, "key", k)
	if strings.Count(log.String(), "[private]") != 2 {
		t.Errorf("sums and keys are logged as %q", log.String())
	}
	if text, err := json.Marshal(k); string(text) != `"[private]"` || err != nil {
		t.Errorf("the key as JSON: got %s and error %v, want [private]", text, err)
	}
	if _, err := json.Marshal(s); !errors.Is(err, mechanism.ErrPrivate) {
		t.Errorf("JSON: got error %v, want ErrPrivate", err)
	}
	if err := gob.NewEncoder(&log).Encode(s); !errors.Is(err, mechanism.ErrPrivate) {
		t.Errorf("gob: got error %v, want ErrPrivate", err)
	}
}

// TestZeroValuesAreRefused: methods of zero values return errors and do not panic.
func TestZeroValuesAreRefused(t *testing.T) {
	var wrong *param.Error
	for _, s := range []*mechanism.Partial{nil, new(mechanism.Partial)} {
		_, sealing := s.Seal(mechanism.NewKey(), mechanism.Shard{Name: "s"})
		opening := s.Open(mechanism.NewKey(), nil)
		for name, err := range map[string]error{"add": s.Add(t.Context(), rows(t, 1, 1)),
			"merge": s.Merge(empty(pass(t, "sums"))), "merged": empty(pass(t, "sums")).Merge(s),
			"seal": sealing, "open": opening} {
			if !errors.As(err, &wrong) {
				t.Errorf("%s: got error %v, want *param.Error", name, err)
			}
		}
		s.Reset()
		if s.Sums() != nil || s.Shards() != nil || s.Unit() != "" || s.Real() {
			t.Error("the zero value holds sums, shards or a unit")
		}
	}
	if _, err := mechanism.ReadKey([]byte("short")); !errors.As(err, &wrong) {
		t.Errorf("a short key: got error %v, want *param.Error", err)
	}
}

func FuzzOpen(f *testing.F) {
	p, err := mechanism.NewPassID("sums", schema)
	if err != nil {
		f.Fatal(err)
	}
	k, err := mechanism.ReadKey(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	good, err := empty(p).Seal(k, mechanism.Shard{Name: "s", Attempt: "a"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		o := empty(p)
		err := o.Open(k, b)
		if err == nil && len(o.Shards()) == 0 {
			t.Error("Open returns sums of no shard")
		}
	})
}

// fragile is a counter that panics after half of the records.
type fragile struct{ adder }

func (f fragile) Add(ctx context.Context, data records.Data) error {
	half := data.(*records.Table).Slice(0, data.Len()/2)
	if err := f.adder.Add(ctx, half); err != nil {
		return err
	}
	panic("a feature map that panics")
}

// TestSumsThatPanicked: sums whose Add panicked hold some of the records. They cannot be used,
// since a second Add would count these records twice.
func TestSumsThatPanicked(t *testing.T) {
	p := pass(t, "sums")
	s := mechanism.NewPartial(p, schema, fragile{adder{mechanism.NewFixedSum(dim, 0x1p-20)}}, false)
	func() {
		defer func() { _ = recover() }()
		_ = s.Add(t.Context(), rows(t, 1, 10))
	}()
	var wrong *param.Error
	if err := s.Add(t.Context(), rows(t, 1, 10)); !errors.As(err, &wrong) {
		t.Errorf("records are added again: %v", err)
	}
	if err := empty(p).Merge(s); !errors.As(err, &wrong) {
		t.Errorf("half of the records are merged: %v", err)
	}
}

// halting is a counter that fails after half of the records.
type halting struct{ adder }

func (h halting) Add(ctx context.Context, data records.Data) error {
	half := data.(*records.Table).Slice(0, data.Len()/2)
	return errors.Join(h.adder.Add(ctx, half), io.ErrUnexpectedEOF)
}

// TestSumsThatFailed: as after a panic, sums whose Add failed cannot be used.
func TestSumsThatFailed(t *testing.T) {
	p := pass(t, "sums")
	s := mechanism.NewPartial(p, schema, halting{adder{mechanism.NewFixedSum(dim, 0x1p-20)}}, false)
	if err := s.Add(t.Context(), rows(t, 1, 10)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v, want the counter's error", err)
	}
	var wrong *param.Error
	if err := s.Add(t.Context(), rows(t, 1, 10)); !errors.As(err, &wrong) {
		t.Errorf("records are added again: %v", err)
	}
	if err := empty(p).Merge(s); !errors.As(err, &wrong) {
		t.Errorf("half of the records are merged: %v", err)
	}
}

// beyond is data whose values are outside their schema.
type beyond struct{ records.Data }

func (d beyond) Range(lo, hi int, b *device.Batch) {
	d.Data.Range(lo, hi, b)
	for i := range b.Rows {
		copy(b.Dense.Row(i), []float32{-9, 9, float32(math.NaN())})
	}
}

// TestPartialsAreOfClampedRecords: sums read values inside the schema, whatever the data return.
func TestPartialsAreOfClampedRecords(t *testing.T) {
	s := empty(pass(t, "sums"))
	if err := s.Add(t.Context(), beyond{rows(t, 1, 5)}); err != nil {
		t.Fatal(err)
	}
	if got := values(t, s); math.Abs(got[0]) > 0.1 || math.Abs(got[1]-5) > 0.1 ||
		math.Abs(got[2]) > 0.1 {
		t.Errorf("five records outside the schema add up to %v, want 0, 5 and 0", got)
	}
}

// placed is an adder that must know its shard.
type placed struct {
	adder
	begun string
	ended error
}

func (p *placed) Begin(shard string) error {
	p.begun = shard
	return nil
}

func (p *placed) End() error { return p.ended }

// TestBegin: a Sharded counter knows its shard before the first record. Its sums can be sealed only
// under the name of that shard, and not at all if the shard has changed.
func TestBegin(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	var wrong *param.Error
	c := &placed{adder: adder{mechanism.NewFixedSum(dim, 0x1p-20)}}
	s := mechanism.NewPartial(p, schema, c, false)
	if err := s.Add(t.Context(), rows(t, 1, 5)); !errors.As(err, &wrong) {
		t.Errorf("records of no shard: got error %v, want *param.Error", err)
	}
	if err := errors.Join(s.Begin("one"), s.Add(t.Context(), rows(t, 1, 5))); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin("two"); !errors.As(err, &wrong) || c.begun != "one" {
		t.Errorf("a second shard: got error %v and shard %s, want *param.Error", err, c.begun)
	}
	if _, err := s.Seal(k, mechanism.Shard{Name: "two"}); !errors.As(err, &wrong) {
		t.Errorf("another shard's name: got error %v, want *param.Error", err)
	}
	c.ended = errors.New("another number of records")
	if _, err := s.Seal(k, mechanism.Shard{Name: "one"}); !errors.Is(err, c.ended) {
		t.Errorf("a shard that changed: got error %v, want the counter's", err)
	}
	c.ended = nil
	b := must(s.Seal(k, mechanism.Shard{Name: "one"}))(t)
	if again, err := s.Seal(k, mechanism.Shard{}); err != nil || len(again) != len(b) {
		t.Errorf("sealed again: got error %v, or another length", err)
	}
	if err := s.Begin("one"); !errors.As(err, &wrong) {
		t.Errorf("begun after it was sealed: got error %v, want *param.Error", err)
	}
	s.Reset()
	if err := s.Begin("two"); err != nil || c.begun != "two" {
		t.Errorf("begun after a reset: got error %v, want none", err)
	}
	plain := empty(p)
	if err := errors.Join(plain.Begin("one"), plain.Add(t.Context(), rows(t, 1, 5))); err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Seal(k, mechanism.Shard{Name: "two"}); !errors.As(err, &wrong) {
		t.Errorf("plain sums under another name: got error %v, want *param.Error", err)
	}
	var none mechanism.Partial
	if err := errors.Join(none.Begin("one")); !errors.As(err, &wrong) {
		t.Errorf("the zero value: got error %v, want *param.Error", err)
	}
	if err := plain.Begin(""); !errors.As(err, &wrong) {
		t.Errorf("no name: got error %v, want *param.Error", err)
	}
}

// TestMergingEndsBothShards: sums of a shard that has begun have its name once they are merged, on
// either side, so the shard counts once, whether or not the counter must know it. A shard that has
// changed is not merged.
func TestMergingEndsBothShards(t *testing.T) {
	p := pass(t, "sums")
	plain := false
	shard := func(name string, ended error) *mechanism.Partial {
		s := mechanism.NewPartial(p, schema, &placed{adder: adder{mechanism.NewFixedSum(dim,
			0x1p-20)}, ended: ended}, false)
		if plain { // a counter that need not know its shard
			s = empty(p)
		}
		if err := errors.Join(s.Begin(name), s.Add(t.Context(), rows(t, 1, 5))); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, plain = range []bool{true, false} {
		all := shard("one", nil)
		if err := all.Merge(shard("two", nil)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all.Shards(), []string{"one", "two"}) {
			t.Errorf("plain %t: got shards %q, want one and two", plain, all.Shards())
		}
		want := values(t, all)
		for _, name := range []string{"one", "two"} {
			if err := all.Merge(shard(name, nil)); err != nil || !slices.Equal(values(t, all), want) {
				t.Errorf("plain %t: shard %q counts twice, or %v", plain, name, err)
			}
		}
	}
	for _, merged := range []bool{true, false} { // an attempt that finds another one's sums
		begun, done := empty(p), empty(p)
		err := errors.Join(begun.Begin("one"), done.Begin("one"), done.Add(t.Context(), rows(t, 1, 5)))
		want := values(t, done)
		if merged {
			err = errors.Join(err, begun.Merge(done))
		} else {
			err = errors.Join(err, done.Merge(begun))
			begun = done
		}
		if err != nil || !slices.Equal(values(t, begun), want) {
			t.Errorf("a shard that has begun without records counts in place of its records, or %v", err)
		}
	}
	both := shard("one", nil)
	if err := both.Merge(shard("three", nil)); err != nil {
		t.Fatal(err)
	}
	parts := []*mechanism.Partial{shard("one", nil), shard("two", nil), both}
	if err := mechanism.CheckPartials("p", p, records.UnitRecord, parts...); err == nil {
		t.Error("shards that overlap others pass the check, and would fail when they are paid for")
	}
	changed := errors.New("another number of records")
	for _, of := range [][2]error{{changed, nil}, {nil, changed}} {
		if err := shard("one", of[0]).Merge(shard("two", of[1])); !errors.Is(err, changed) {
			t.Errorf("a shard that changed: got %v, want the counter's error", err)
		}
	}
}

// users returns records of users. If of is positive, they are in one of so many parts of all users.
func users(t testing.TB, part, of int) records.Data {
	t.Helper()
	data := records.WithUnit(rows(t, 1, 5), records.UnitUser)
	if of > 0 {
		data = records.WithPart(data, part, of)
	}
	return data
}

// ofUsers returns sums of users in the given parts.
func ofUsers(t testing.TB, p mechanism.PassID, of int, list ...int) *mechanism.Partial {
	t.Helper()
	s := empty(p)
	for _, part := range list {
		if err := s.Add(t.Context(), users(t, part, of)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestPartsTravelAsMask: sums of many parts are sealed with a bit for each part. Opened again, they
// still know each of them.
func TestPartsTravelAsMask(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	held := []int{3, 70, 71, 80, 99} // two of them in one byte
	b := must(ofUsers(t, p, 100, held...).Seal(k, mechanism.Shard{Name: "s"}))(t)
	for part := range 100 {
		a := empty(p)
		if err := errors.Join(a.Open(k, b), a.Merge(ofUsers(t, p, 100, part))); err != nil {
			t.Fatal(err)
		}
		want := records.UnitUser
		if slices.Contains(held, part) {
			want = records.UnitPart
		}
		if a.Unit() != want {
			t.Errorf("part %d beside %v: the unit is %q, want %q", part, held, a.Unit(), want)
		}
	}
}

// TestMergedUnits: sums that are merged without being sealed have the unit of all their records,
// whichever comes first, and a check changes nothing.
func TestMergedUnits(t *testing.T) {
	p := pass(t, "sums")
	for name, c := range map[string]struct {
		list func() []*mechanism.Partial
		want string
	}{
		"records and users": {func() []*mechanism.Partial {
			return []*mechanism.Partial{of(t, p, 1), ofUsers(t, p, 2, 0)}
		}, records.UnitPart},
		"records and users in other parts": {func() []*mechanism.Partial {
			some := empty(p)
			if err := some.Add(t.Context(), records.WithPart(rows(t, 1, 5), 0, 2)); err != nil {
				t.Fatal(err)
			}
			return []*mechanism.Partial{some, ofUsers(t, p, 2, 1)}
		}, records.UnitPart},
		"other parts": {func() []*mechanism.Partial {
			return []*mechanism.Partial{ofUsers(t, p, 4, 0, 2), ofUsers(t, p, 4, 1)}
		}, records.UnitUser},
		"a part of both": {func() []*mechanism.Partial {
			return []*mechanism.Partial{ofUsers(t, p, 4, 0, 2), ofUsers(t, p, 4, 2)}
		}, records.UnitPart},
		"parts of other divisions": {func() []*mechanism.Partial {
			return []*mechanism.Partial{ofUsers(t, p, 4, 0), ofUsers(t, p, 5, 1)}
		}, records.UnitPart},
		"no parts": {func() []*mechanism.Partial {
			return []*mechanism.Partial{ofUsers(t, p, 0, 0), ofUsers(t, p, 0, 0)}
		}, records.UnitPart},
	} {
		for range 2 {
			list := c.list()
			err := mechanism.CheckPartials("test", p, records.UnitUser, list...)
			if (err == nil) != (c.want == records.UnitUser) {
				t.Errorf("%s: a check for users returns %v", name, err)
			}
			a := empty(p)
			for _, s := range list {
				if err := a.Merge(s); err != nil {
					t.Fatal(err)
				}
				if s.Unit() != "" || len(s.Shards()) != 0 {
					t.Errorf("%s: sums that were merged have unit %q and shards %v", name, s.Unit(), s.Shards())
				}
			}
			if a.Unit() != c.want {
				t.Errorf("%s: the unit is %q, want %q", name, a.Unit(), c.want)
			}
			back := c.list
			c.list = func() []*mechanism.Partial { l := back(); slices.Reverse(l); return l }
		}
	}
}

// TestEmptiedSumsAreNew: after Reset, sums hold nothing of their former records and take others.
func TestEmptiedSumsAreNew(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	s := ofUsers(t, p, 2, 0)
	if _, err := s.Seal(k, mechanism.Shard{Name: "former"}); err != nil {
		t.Fatal(err)
	}
	s.Reset()
	if s.Unit() != "" || s.Shards() != nil || !slices.Equal(values(t, s), values(t, empty(p))) {
		t.Errorf("after Reset: unit %q, shards %v", s.Unit(), s.Shards())
	}
	if err := errors.Join(s.Begin("new"), s.Add(t.Context(), rows(t, 2, 42))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Seal(k, mechanism.Shard{Name: "new"}); err != nil {
		t.Error(err)
	}
	if s.Unit() != records.UnitRecord || !slices.Equal(s.Shards(), []string{"new"}) ||
		!slices.Equal(values(t, s), values(t, of(t, p, 2))) {
		t.Errorf("used again: unit %q, shards %v", s.Unit(), s.Shards())
	}
}

// TestInexactSumsStayInexact: sums to which one counter without exact arithmetic contributed are of
// the real class, however they were merged and sealed, and after Reset.
func TestInexactSumsStayInexact(t *testing.T) {
	p, k := pass(t, "sums"), mechanism.NewKey()
	shard := func(real bool, name string) []byte {
		s := mechanism.NewPartial(p, schema, adder{mechanism.NewFixedSum(dim, 0x1p-20)}, real)
		if err := s.Add(t.Context(), rows(t, 1, 5)); err != nil {
			t.Fatal(err)
		}
		b := must(s.Seal(k, mechanism.Shard{Name: name}))(t)
		if s.Reset(); s.Real() != real {
			t.Errorf("after Reset: real is %v, want %v", s.Real(), real)
		}
		return b
	}
	inexact, exact := shard(true, "a"), shard(false, "b")
	for name, list := range map[string][][]byte{"first": {inexact, exact}, "last": {exact, inexact}} {
		a := empty(p)
		if err := a.Open(k, list...); err != nil {
			t.Fatal(err)
		}
		group := must(a.Seal(k, mechanism.Shard{}))(t)
		again, replaced := empty(p), empty(p)
		if err := errors.Join(again.Open(k, group), replaced.Open(k, exact, group)); err != nil {
			t.Fatal(err)
		}
		if !a.Real() || !again.Real() || !replaced.Real() {
			t.Errorf("inexact sums %s: real is %v, sealed again %v, in place of a part %v, want true", name,
				a.Real(), again.Real(), replaced.Real())
		}
	}
	a := empty(p)
	if err := a.Open(k, exact); err != nil || a.Real() {
		t.Errorf("exact sums: real is %v, error %v", a.Real(), err)
	}
}
