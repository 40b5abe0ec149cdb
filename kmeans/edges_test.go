package kmeans_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestRecordsAtPartEdgesCountOnce checks that every record counts once, also if the records fill
// several parts and with several workers.
func TestRecordsAtPartEdgesCountOnce(t *testing.T) {
	for _, n := range []int{1, 3, 8191, 8192, 8193, 20011} {
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = []float32{1, 0}
		}
		for _, workers := range []int{1, 2, 3} {
			for _, cache := range []int64{0, 1 << 30} {
				rec := &recorder{seed: 1}
				tapped(t, rec, cfgFor(2, 2), kmeans.Raw(square), table(t, square, rows),
					accountant.AddOrRemoveOne,
					kmeans.WithBackend(device.CPUWith(workers)), kmeans.WithCache(cache))
				for i, rel := range rec.releases {
					count, sum := 0.0, 0.0
					for _, c := range rel.Inputs[1] {
						count += c
					}
					for j := 0; j < len(rel.Inputs[0]); j += 2 {
						sum += rel.Inputs[0][j]
					}
					if count != float64(n) || math.Abs(sum-float64(n)) > 1e-6*float64(n) {
						t.Fatalf("%d records, %d workers, release %d: count %v and sum %v", n,
							workers, i, count, sum)
					}
				}
			}
		}
	}
}

// TestInterruptedWithoutRecords: an interrupt ends a fit after the same release, whether or not
// there are records.
func TestInterruptedWithoutRecords(t *testing.T) {
	for n := range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		l := ledgerOf(accountant.AddOrRemoveOne)
		data := table(t, square, [][]float32{{1, 0}}[:n])
		_, err := kmeans.Fit(ctx, cfgFor(2, 3), kmeans.Raw(square), data, l,
			kmeans.WithProgress(func(int, int, float64) { cancel() }))
		if spent := l.Entries()[0].Spent; !errors.Is(err, context.Canceled) || spent != 1 {
			t.Errorf("%d records: got %v after %d releases, want an interrupt after 1", n, err, spent)
		}
	}
}

// TestPublicCentresAreOfPublicRecords checks that a fit with public records starts at the clusters
// of the public records, not at clusters of the private records.
func TestPublicCentresAreOfPublicRecords(t *testing.T) {
	rows := make([][]float32, 99)
	for i := range rows {
		rows[i] = []float32{3, 0.2 * float32(i%2)}
	}
	rows[40] = []float32{-3, 0} // a cluster of its own
	public := table(t, square, rows)
	private := table(t, square, [][]float32{{2, 2}, {2, 2}, {2, 2}, {2, -2}, {2, -2}})
	for seed := range uint64(5) {
		cfg := cfgFor(2, 1)
		cfg.Init = kmeans.Public(records.DeclarePublic(public))
		rec := &recorder{seed: 1}
		tapped(t, rec, cfg, kmeans.Raw(square), private, accountant.AddOrRemoveOne, kmeans.WithSeed(seed))
		if c := rec.releases[0].Inputs[1]; c[0] != 0 && c[1] != 0 {
			t.Errorf("seed %d: the first centres divide the private records into %v, want one cluster", seed,
				c)
		}
	}
}

// TestRowsAreNoUsers checks a fit on a ledger whose unit is the user. Rows that do not name users
// are refused, and nothing is spent.
func TestRowsAreNoUsers(t *testing.T) {
	data := table(t, square, [][]float32{{1, 0}, {0, 1}})
	fit := func(d records.Data) (*ledger.Ledger, error) {
		l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5},
			ledger.WithUnit(records.UnitUser))
		_, err := kmeans.Fit(t.Context(), cfgFor(2, 1), kmeans.Raw(square), d, l)
		return l, err
	}
	l, err := fit(data)
	if wrong := (*param.Error)(nil); !errors.As(err, &wrong) || len(l.Entries()) != 0 {
		t.Errorf("rows as users: got %v, want *param.Error; ledger entries %v, want none", err,
			l.Entries())
	}
	if _, err := fit(records.WithUnit(data, records.UnitUser)); err != nil {
		t.Errorf("users: got %v, want no error", err)
	}
}

// TestRowsOfEveryPartAreClipped checks that rows are clipped in each part, with a clip norm that is
// known before features are computed and with one that is known afterwards, in memory or not.
func TestRowsOfEveryPartAreClipped(t *testing.T) {
	const n = 3*8192 + 5
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = []float32{2, 0}
	}
	data := table(t, square, rows)
	for name, set := range map[string]func(*kmeans.Config){
		"given": func(c *kmeans.Config) { c.ClipNorm = 1 },
		"estimated": func(c *kmeans.Config) { // all rows are in the last bin, which ends at 1
			c.ClipNorm, c.Norm = 0, &kmeans.DPNorm{Max: 1, Bins: 2, NoiseMultiplier: 2}
		},
	} {
		for _, cache := range []int64{0, 1 << 30} {
			cfg, rec := cfgFor(1, 1), &recorder{seed: 1}
			set(&cfg)
			tapped(t, rec, cfg, kmeans.Raw(square), data, accountant.AddOrRemoveOne,
				kmeans.WithCache(cache))
			sum := rec.releases[len(rec.releases)-1].Inputs[0][0]
			if !(sum <= n && sum > n*(1-1e-5)) {
				t.Errorf("%s, cache of %d bytes: %d rows clipped to 1 have the sum %v", name, cache, n, sum)
			}
		}
	}
}

// TestWeightsOfLaterParts checks that persons count once in the histogram of norms, in sums and in
// counts, if the first part holds persons of one row and later parts hold persons of two.
func TestWeightsOfLaterParts(t *testing.T) {
	const part = 8192
	var rows [][]float32
	var owners []int
	for i := range 3 * part {
		owner := i
		if i >= part {
			owner -= i % 2
		}
		rows, owners = append(rows, []float32{1, 0}), append(owners, owner)
	}
	persons := must(records.GroupBy(table(t, square, rows), owners, 2))(t)
	cfg, rec := cfgFor(1, 1), &recorder{seed: 1}
	cfg.ClipNorm, cfg.Norm = 0, &kmeans.DPNorm{Max: 1, Bins: 2, NoiseMultiplier: 2}
	l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5},
		ledger.WithUnit(records.UnitUser))
	if _, err := kmeans.Fit(entropy.WithTap(t.Context(), rec), cfg, kmeans.Raw(square.ByPerson(2)),
		persons, l); err != nil {
		t.Fatal(err)
	}
	for i, rel := range rec.releases {
		for j, in := range rel.Inputs {
			total := 0.0
			for _, v := range in {
				total += v
			}
			if i == 0 {
				total *= records.ShareStep // the unit of the histogram
			}
			if !(total <= 2*part && total > 2*part*(1-1e-5)) {
				t.Errorf("release %d, input %d: %d persons add up to %v", i, j, 2*part, total)
			}
		}
	}
}
