package draft_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// TestSettingsAtTheirLimits checks that every setting is accepted at its limits and refused just
// beyond them, and that errors in a setting name it.
func TestSettingsAtTheirLimits(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*draft.Config)
		path   string // of the mistake, or empty
	}{
		"one bin":        {func(c *draft.Config) { c.BinsPerDoubling = 1 }, ""},
		"64 bins":        {func(c *draft.Config) { c.BinsPerDoubling = 64 }, ""},
		"65 bins":        {func(c *draft.Config) { c.BinsPerDoubling = 65 }, "BinsPerDoubling"},
		"-1 bins":        {func(c *draft.Config) { c.BinsPerDoubling = -1 }, "BinsPerDoubling"},
		"certain alarm":  {func(c *draft.Config) { c.FalseAlarm = 1 }, "FalseAlarm"},
		"no alarm":       {func(c *draft.Config) { c.FalseAlarm = -1e-9 }, "FalseAlarm"},
		"likely alarm":   {func(c *draft.Config) { c.FalseAlarm = 0.999 }, ""},
		"less than none": {func(c *draft.Config) { c.NoiseMultiplier = -1 }, "NoiseMultiplier"},
		"large noise":    {func(c *draft.Config) { c.NoiseMultiplier = 1 << 24 }, ""},
		"larger noise":   {func(c *draft.Config) { c.NoiseMultiplier = 1<<24 + 1 }, "NoiseMultiplier"},
	} {
		set := config(t, accountant.AddOrRemoveOne)
		c.change(&set)
		_, err := set.Plan()
		var wrong *param.Error
		if (err == nil) != (c.path == "") ||
			c.path != "" && (!errors.As(err, &wrong) || wrong.Path != "draft.Config."+c.path) {
			t.Errorf("%s: got %v, want an error at %q", what, err, c.path)
		}
	}
}

// TestBothReleasesShareTheNoise checks the standard deviations, the threshold of texts and the
// lines of the ledger of a plan with a given noise multiplier.
func TestBothReleasesShareTheNoise(t *testing.T) {
	const noise, delta = 5, 1e-9
	for _, numbers := range []bool{false, true} {
		for _, r := range relations {
			budget := accountant.Budget{Epsilon: 4, Delta: delta, Relation: r}
			data := towns(t, numbers, map[string]int{"Bern": 2000, "Chur": 1200})
			p := planned(t, draft.Config{Candidates: data.Schema(), Budget: budget,
				NoiseMultiplier: noise})
			each, sensitivity := float64(noise), 1.0
			if numbers {
				each *= math.Sqrt2
			}
			if r == accountant.ReplaceOne {
				sensitivity = math.Sqrt2
			}
			sigma := each * sensitivity
			if want := 1 + sigma*math.Sqrt2*math.Erfcinv(0.2*delta); math.Abs(p.OpenThreshold-want) > 1e-6 {
				t.Errorf("numbers %v, %v: texts from %v, want %v", numbers, r, p.OpenThreshold, want)
			}
			if numbers && math.Abs(p.Std-sigma) > 1e-6 {
				t.Errorf("%v: the counts have noise of %v, want %v", r, p.Std, sigma)
			}
			l := ledger.New(budget)
			d, err := draft.Fit(privacytest.Seeded(t, t.Context(), 5), p, data, l)
			if err != nil {
				t.Fatal(err)
			}
			var purposes []string
			for _, e := range l.Entries() {
				purposes = append(purposes, e.Purpose)
			}
			want := []string{draft.PurposeLevels}
			if numbers {
				want = []string{draft.Purpose, draft.PurposeLevels}
			}
			if !reflect.DeepEqual(purposes, want) {
				t.Errorf("numbers %v, %v: the ledger has %q, want %q", numbers, r, purposes, want)
			}
			town := d.Columns[len(d.Columns)-1]
			if town.Name != "town" || len(town.Cells) != 2 || !d.Schema.Columns()[0].HasMissing() {
				t.Fatalf("numbers %v, %v: the levels are %+v of %v", numbers, r, town, d.Schema)
			}
			for i, c := range []draft.Cell{{Kind: "level", Level: "Bern", Count: 2000, Kept: true},
				{Kind: "level", Level: "Chur", Count: 1200, Kept: true}} {
				got := town.Cells[i]
				if math.Abs(got.Count-c.Count) > 7*sigma || got.Count == c.Count {
					t.Errorf("numbers %v, %v: %q counts %v, want %v with noise", numbers, r, c.Level,
						got.Count, c.Count)
				}
				if got.Count = c.Count; got != c {
					t.Errorf("numbers %v, %v: the cell is %+v, want %+v", numbers, r, got, c)
				}
			}
		}
	}
}

// TestCellsAreNamed checks the kinds of the cells of every column and that their counts are those
// of the records.
func TestCellsAreNamed(t *testing.T) {
	c := config(t, accountant.AddOrRemoveOne)
	c.NoiseMultiplier = 1e-3
	c.Budget.Epsilon = 1e9
	d := fitted(t, planned(t, c), people(t, 1000))
	for _, column := range d.Columns {
		var kinds []string
		var sum float64
		for _, cell := range column.Cells {
			sum += cell.Count
			kind := cell.Kind
			if kind == "bin" {
				if !(cell.Lo < cell.Hi) || cell.Level != "" {
					t.Errorf("%s: a bin is %+v", column.Name, cell)
				}
			} else if len(cell.Level) > 0 != (kind == "level") || cell.Lo != 0 || cell.Hi != 0 {
				t.Errorf("%s: a cell is %+v", column.Name, cell)
			}
			if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
				kinds = append(kinds, kind)
			}
		}
		want := map[string]string{"amount": "bin missing", "count": "bin", "year": "bin missing",
			"grade": "level none of the levels", "kind": "level none of the levels",
			"land": "level none of the levels missing"}[column.Name]
		if got := strings.Join(kinds, " "); got != want || math.Abs(sum-1000) > 1 {
			t.Errorf("%s: the cells are %s with the sum %v, want %s and 1000", column.Name, got, sum, want)
		}
	}
}

// TestNothingIsDraftedOfSomeRecords: after an error of a count, of a stream or of shards nothing is
// released, and the ledger holds what was reserved.
func TestNothingIsDraftedOfSomeRecords(t *testing.T) {
	p, data := planned(t, config(t, accountant.AddOrRemoveOne)), people(t, 9000)
	broken := errors.New("broken")
	parts := func(yield func(records.Data, error) bool) {
		_ = yield(data.Slice(0, 100), nil) && yield(nil, broken) && yield(data, nil)
	}
	late := func(after int) context.Context { return &expiring{t.Context(), after} }
	shards := func(ctx context.Context) *mechanism.Partial {
		s, err := p.NewPartial()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(ctx, data); ctx != t.Context() && !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled shard gives %v", err)
		}
		return s
	}
	read := func(s *mechanism.Partial, err error) func(context.Context) (*mechanism.Partial, error) {
		return func(context.Context) (*mechanism.Partial, error) { return s, err }
	}
	whole := shards(t.Context())
	for what, c := range map[string]struct {
		fit   func(*ledger.Ledger) (*draft.Draft, error)
		want  error // nil means a *param.Error
		lines int
	}{
		"no records": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.Fit(t.Context(), p, nil, l)
		}, nil, 0},
		"a context that has ended": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.Fit(late(0), p, data, l)
		}, context.Canceled, 0},
		"a context that ends": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.Fit(late(6), p, data, l)
		}, context.Canceled, 1},
		"a stream that breaks": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.FitStream(t.Context(), p, parts, l)
		}, broken, 1},
		"no shards": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.Release(t.Context(), p, nil, l)
		}, nil, 0},
		"a shard of some records": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.Release(t.Context(), p, []*mechanism.Partial{shards(late(2))}, l)
		}, nil, 0},
		"passes that break": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.FitPasses(t.Context(), p, read(whole, broken), l)
		}, broken, 1},
		"no passes": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.FitPasses(t.Context(), p, nil, l)
		}, nil, 0},
		"passes of no shard": {func(l *ledger.Ledger) (*draft.Draft, error) {
			return draft.FitPasses(t.Context(), p, read(nil, nil), l)
		}, nil, 1},
	} {
		l := ledger.New(p.Config.Budget)
		d, err := c.fit(l)
		var wrong *param.Error
		if d != nil || c.want != nil && !errors.Is(err, c.want) ||
			c.want == nil && !errors.As(err, &wrong) || len(l.Entries()) != c.lines {
			t.Errorf("%s: got %v, %v and %d lines, want an error and %d lines", what, d, err,
				len(l.Entries()), c.lines)
		}
	}
}

// expiring is a context that is cancelled after some calls of Err.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLinesShareRoom: a line of empty fields, of which a small file may have millions, does not
// take room of its own.
func TestLinesShareRoom(t *testing.T) {
	const lines, columns = 4000, 200
	text := "a" + strings.Repeat(",1", columns-1) + "\n" +
		strings.Repeat("1"+strings.Repeat(",", columns-1)+"\n", lines)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := draft.FromPublic(strings.NewReader(text), records.CSV{FirstRecord: true}, draft.Public{})
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / (lines * columns); err != nil || each > 8 {
		t.Errorf("%d bytes a field, want at most 8: %v", each, err)
	}
}
