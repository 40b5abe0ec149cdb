package kmeans_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestExtremeNoiseIsRefusedOrRuns: a fit with extreme but valid-looking settings either is
// refused by Check, before anything is reserved, or runs. The largest settings that are accepted
// run under both relations, for records and for persons.
func TestExtremeNoiseIsRefusedOrRuns(t *testing.T) {
	const most = mechanism.MaxNoiseMultiplier
	base := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 1}
	with := func(change func(c *kmeans.Config)) kmeans.Config {
		c := base
		change(&c)
		return c
	}
	norm := func(max, z float64) func(*kmeans.Config) {
		return func(c *kmeans.Config) {
			c.Norm = &kmeans.DPNorm{Max: max, Bins: 2, NoiseMultiplier: z}
		}
	}
	for _, c := range []struct {
		name          string
		config        kmeans.Config
		runs, refused bool // refused: for persons, although it runs for records
	}{
		{"largest clip norm", with(func(c *kmeans.Config) { c.ClipNorm = 0x1p100 }), true, false},
		{"larger clip norm", with(func(c *kmeans.Config) { c.ClipNorm = 0x1.8p100 }), false, false},
		{"huge clip norm", with(func(c *kmeans.Config) { c.ClipNorm, c.NoiseMultiplier = 1e308, 10 }),
			false, false},
		{"largest private norm", with(norm(0x1p100, most)), true, false},
		{"huge private norm", with(norm(1e308, 10)), false, false},
		{"private norm, huge noise", with(norm(1, 2*most)), false, false},
		{"private norm, least noise", with(norm(1, 0x1p-24)), true, false},
		{"private norm, too little noise", with(norm(1, 0x1.fp-25)), false, false},
		{"largest noise, even share", with(func(c *kmeans.Config) {
			c.NoiseMultiplier, c.CountShare = most/4, 0.5
		}), true, false},
		{"largest noise and clip norm", with(func(c *kmeans.Config) {
			c.NoiseMultiplier, c.ClipNorm = most, 0x1p100
		}), true, true},
		{"largest noise, hardly any for counts", with(func(c *kmeans.Config) {
			c.NoiseMultiplier, c.CountShare = most, 1e-9
		}), true, true},
		{"larger noise", with(func(c *kmeans.Config) { c.NoiseMultiplier = 2 * most }), false, false},
		{"huge noise", with(func(c *kmeans.Config) { c.NoiseMultiplier = 1e300 }), false, false},
	} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for _, persons := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/%v", c.name, r, persons), func(t *testing.T) {
					extremeFit(t, c.config, r, persons, c.runs && !(persons && c.refused))
				})
			}
		}
	}
}

func extremeFit(t *testing.T, c kmeans.Config, r accountant.Relation, persons, runs bool) {
	s := records.Interval(2, -1, 1)
	table, err := records.FromFlat(s, []float32{0, 1, 1, 0, -1, 0.5})
	data := records.Data(table)
	if err == nil && persons {
		data, err = records.GroupBy(table, []string{"a", "b", "a"}, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := kmeans.Raw(s)
	for what, fit := range map[string]func(l *ledger.Ledger) error{
		"records": func(l *ledger.Ledger) error {
			_, err := kmeans.Fit(t.Context(), c, f, data, l)
			return err
		},
		"passes": func(l *ledger.Ledger) error { return passesOf(t, c, f, data, l) },
	} {
		l := ledger.New(accountant.Budget{Epsilon: 1e18, Delta: 1e-5, Relation: r},
			ledger.WithUnit(records.UnitOf(data)))
		err := fit(l)
		var wrong *param.Error
		switch {
		case runs && err != nil:
			t.Errorf("%s: accepted before, and then: %v", what, err)
		case !runs && !errors.As(err, &wrong):
			t.Errorf("%s: not refused: %v", what, err)
		case !runs && len(l.Entries()) > 0:
			t.Errorf("%s: refused after reserving: %v", what, err)
		}
	}
}

// passesOf fits by passes over the only shard.
func passesOf(t *testing.T, c kmeans.Config, f kmeans.Features, data records.Data,
	l *ledger.Ledger) error {
	_, err := kmeans.FitPasses(t.Context(), c, f, "raw", data.Schema(), l,
		func(ctx context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
			sums, err := p.NewPartial(device.CPU(), f)
			if err != nil {
				return nil, err
			}
			return sums, sums.Add(ctx, data)
		})
	return err
}
