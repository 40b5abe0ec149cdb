package kmeans_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// TestPassesOverShards checks FitPasses on the sums of shards, each sent twice. It must give the
// same model and the same ledger as Fit on all records.
func TestPassesOverShards(t *testing.T) {
	const rows = 2000
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), rows/4, 0.7, corners...))
	key := mechanism.NewKey()
	waves := must(rff.RBF{Dim: 60, Bandwidth: 3}.New(square.Dim(), 4))(t)
	for name, f := range map[string]kmeans.Features{"raw": kmeans.Raw(square), "rbf": waves,
		"norm": kmeans.Raw(square)} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			cfg := kmeans.Config{K: 4, Iterations: 5, NoiseMultiplier: 2, ClipNorm: 3,
				Small: kmeans.SplitLargest}
			if name == "raw" { // more centres than clusters
				cfg.Centers = 9
			}
			if name == "rbf" {
				cfg.Centers, cfg.Merge = 8, 2
			}
			wanted := cfg.Iterations
			if name == "norm" { // the estimated norm takes one more pass
				cfg.ClipNorm = 0
				cfg.Norm = &kmeans.DPNorm{Max: 40, Bins: 30, NoiseMultiplier: 5}
				wanted++
			}
			passes := 0
			read := func(ctx context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
				passes++
				all, err := p.NewPartial(device.CPU(), f)
				if err != nil {
					return nil, err
				}
				for lo := 0; lo < rows; lo += 700 {
					shard, err := p.NewPartial(device.CPUWith(1+passes%2), f)
					if err != nil {
						return nil, err
					}
					for at := lo; at < min(lo+700, rows); at += 350 { // a shard in pieces
						if err := shard.Add(ctx, data.Slice(at, min(at+350, rows))); err != nil {
							return nil, err
						}
					}
					name := mechanism.Shard{Name: fmt.Sprint(lo)}
					if _, err := shard.Seal(key, name); err != nil { // Seal must not change the sums
						return nil, err
					}
					b, err := shard.Seal(key, name)
					if err != nil {
						return nil, err
					}
					if err := all.Open(key, b, b); err != nil {
						return nil, err
					}
				}
				return all, nil
			}
			one, two := ledgerOf(r), ledgerOf(r)
			seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 3) }
			opts := []kmeans.Option{kmeans.WithSeed(9)}
			want := must(kmeans.Fit(seeded(), cfg, f, data, one, opts...))(t)
			got := must(kmeans.FitPasses(seeded(), cfg, f, "test", square, two, read, opts...))(t)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %v: FitPasses and Fit give different models", name, r)
			}
			if !reflect.DeepEqual(one.Entries(), two.Entries()) {
				t.Errorf("%s, %v: the ledger has %v, want %v", name, r, two.Entries(), one.Entries())
			}
			if passes != wanted {
				t.Errorf("%s, %v: got %d passes, want one for each iteration and estimated norm", name, r,
					passes)
			}
		}
	}
}

// TestPassesOfPersons checks FitPasses on the sums of persons with several rows, with an estimated
// clip norm. It must give the same model and the same ledger as Fit.
func TestPassesOfPersons(t *testing.T) {
	rows := blobs(rand.New(rand.NewPCG(1, 1)), 60, 0.7, corners...)
	owners := make([]string, len(rows))
	for i := range owners {
		owners[i] = fmt.Sprint(i/7*3, " ", []int{5, 6, 6, 4, 4, 4, 4}[i%7])
	}
	data := must(records.GroupBy(table(t, square, rows), owners, 2))(t)
	cfg := kmeans.Config{K: 4, Iterations: 2, NoiseMultiplier: 2,
		Norm: &kmeans.DPNorm{Max: 40, Bins: 30, NoiseMultiplier: 50}}
	f := kmeans.Raw(square.ByPerson(2))
	var models []*kmeans.Model
	var ledgers []*ledger.Ledger
	for _, passes := range []bool{false, true} {
		ctx := privacytest.Seeded(t, context.Background(), 3)
		l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5}, ledger.WithUnit(records.UnitUser))
		fit := func() (*kmeans.Model, error) { return kmeans.Fit(ctx, cfg, f, data, l) }
		if passes {
			fit = func() (*kmeans.Model, error) {
				return kmeans.FitPasses(ctx, cfg, f, "raw", data.Schema(), l, func(ctx context.Context,
					p kmeans.Pass) (*mechanism.Partial, error) {
					s, err := p.NewPartial(device.CPU(), f)
					if err != nil {
						return nil, err
					}
					return s, s.Add(ctx, data)
				})
			}
		}
		m := must(fit())(t)
		models, ledgers = append(models, m), append(ledgers, l)
	}
	if !reflect.DeepEqual(models[0], models[1]) ||
		!reflect.DeepEqual(ledgers[0].Entries(), ledgers[1].Entries()) {
		t.Error("FitPasses and Fit of persons give different models or ledgers")
	}
}

// TestPassesOfOthersAreRefused checks that sums of another pass, sums of another unit than the
// ledger's, invalid arguments and invalid passes are refused.
func TestPassesOfOthersAreRefused(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 0.7, corners...))
	f := kmeans.Raw(square)
	cfg := kmeans.Config{K: 4, Iterations: 2, NoiseMultiplier: 2, ClipNorm: 3}
	var wrong *param.Error
	for name, c := range map[string]struct {
		change func(*kmeans.Pass)
		unit   string
		ok     bool
	}{
		"its own":       {func(*kmeans.Pass) {}, records.UnitRecord, true},
		"other centres": {func(p *kmeans.Pass) { p.Centers[0][0]++ }, records.UnitRecord, false},
		"another norm":  {func(p *kmeans.Pass) { p.ClipNorm *= 2 }, records.UnitRecord, false},
		"other noise": {func(p *kmeans.Pass) { p.Config.NoiseMultiplier *= 4 }, records.UnitRecord,
			false},
		"other features": {func(p *kmeans.Pass) { p.Features = "x" }, records.UnitRecord, false},
		"rows":           {func(*kmeans.Pass) {}, records.UnitUser, false},
	} {
		l := ledger.New(accountant.Budget{Epsilon: 10, Delta: 1e-5},
			ledger.WithUnit(c.unit))
		_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square, l, func(ctx context.Context,
			p kmeans.Pass) (*mechanism.Partial, error) {
			c.change(&p)
			s, err := p.NewPartial(device.CPU(), f)
			if err != nil {
				return nil, err
			}
			return s, s.Add(ctx, data)
		})
		if c.ok != (err == nil) || !c.ok && !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	norm := cfg
	norm.ClipNorm, norm.Norm = 0, &kmeans.DPNorm{Max: 10, Bins: 4, NoiseMultiplier: 1}
	for name, change := range map[string]func(*kmeans.Pass){"its own": func(*kmeans.Pass) {},
		"other bins": func(p *kmeans.Pass) {
			p.Config.Norm = &kmeans.DPNorm{Max: 20, Bins: 4, NoiseMultiplier: 1}
		}} {
		l := ledgerOf(accountant.AddOrRemoveOne)
		_, err := kmeans.FitPasses(t.Context(), norm, f, "raw", square, l, func(ctx context.Context,
			p kmeans.Pass) (*mechanism.Partial, error) {
			change(&p)
			s, err := p.NewPartial(device.CPU(), f)
			if err != nil {
				return nil, err
			}
			return s, s.Add(ctx, data)
		})
		if (err == nil) != (name == "its own") || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	read := func(context.Context, kmeans.Pass) (*mechanism.Partial, error) { return nil, nil }
	for name, try := range map[string]func(*ledger.Ledger) error{
		"no reader": func(l *ledger.Ledger) error {
			_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square, l, nil)
			return err
		},
		"no ledger": func(*ledger.Ledger) error {
			_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square, nil, read)
			return err
		},
		"no features": func(l *ledger.Ledger) error {
			_, err := kmeans.FitPasses(t.Context(), cfg, nil, "raw", square, l, read)
			return err
		},
	} {
		l := ledgerOf(accountant.AddOrRemoveOne)
		if err := try(l); !errors.As(err, &wrong) || len(l.Entries()) > 0 {
			t.Errorf("%s: got error %v and %d ledger entries, want *param.Error and none", name, err,
				len(l.Entries()))
		}
	}
	for name, p := range map[string]kmeans.Pass{"zero": {},
		"norms without bins": {Config: cfg, Schema: square, Relation: accountant.AddOrRemoveOne,
			Norms: true},
		"norms with centres": {Config: norm, Schema: square, Relation: accountant.AddOrRemoveOne,
			Norms: true, ClipNorm: 1},
		"no centres": {Config: cfg, Schema: square, Relation: accountant.AddOrRemoveOne, ClipNorm: 1}} {
		if _, err := p.NewPartial(device.CPU(), f); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
}

// TestNormsOfPiecesCountOnce: norms counted piece by piece equal those of all records at once.
func TestNormsOfPiecesCountOnce(t *testing.T) {
	f := kmeans.Raw(square)
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 30, 0.7, corners...))
	p := kmeans.Pass{Config: kmeans.Config{K: 4, Iterations: 2, NoiseMultiplier: 2,
		Norm: &kmeans.DPNorm{Max: 40, Bins: 30, NoiseMultiplier: 5}},
		Relation: accountant.AddOrRemoveOne, Schema: square, Features: "raw", Norms: true}
	counts := func(pieces ...records.Data) []int64 {
		s, err := p.NewPartial(device.CPU(), f)
		for _, d := range pieces {
			err = errors.Join(err, s.Add(t.Context(), d))
		}
		if err != nil {
			t.Fatal(err)
		}
		return s.Sums()[0].Exact()
	}
	want := counts(data)
	if got := counts(data.Slice(0, 50), data.Slice(50, 51), data.Slice(51, data.Len())); !slices.Equal(
		got, want) {
		t.Errorf("got counts %d from pieces, want %d", got, want)
	}
}

// TestNormPassReplays replays fits in passes with an estimated norm on neighbouring data sets:
// everything but the noisy sums must be the same.
func TestNormPassReplays(t *testing.T) {
	f := kmeans.Raw(square)
	cfg := kmeans.Config{K: 3, Iterations: 2, NoiseMultiplier: 20,
		Norm: &kmeans.DPNorm{Max: 10, Bins: 8, NoiseMultiplier: 20}}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, pair := range privacytest.Neighbours(t, square, r, 9, 3)[:4] {
			privacytest.Replay[records.Data]{Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5,
				Relation: r}, Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 2,
				Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
					return kmeans.FitPasses(ctx, cfg, f, "raw", square, l, func(ctx context.Context,
						p kmeans.Pass) (*mechanism.Partial, error) {
						s, err := p.NewPartial(device.CPU(), f)
						if err != nil {
							return nil, err
						}
						return s, s.Add(ctx, d)
					})
				}}.Check(t)
		}
	}
}
