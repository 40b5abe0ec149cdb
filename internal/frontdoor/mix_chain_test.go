package frontdoor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// mixChain returns a chain whose release takes milliseconds.
func mixChain() privgen.MixChain {
	s := records.Image(2, 2).WithLabels("dark", "bright")
	return privgen.Mix(s, accountant.Budget{Epsilon: 4, Delta: 1e-5}).
		Mixtures(mix.Config{Sampling: mix.Poisson{Nominal: 60, Degree: 6}, Mixtures: 50, ClipNorm: 1})
}

func pixels(t *testing.T, n int) *records.Table {
	t.Helper()
	flat, labels := make([]float32, 4*n), make([]int32, n)
	for i := range flat {
		labels[i/4] = int32(i / 4 % 2)
		flat[i] = float32(i/4%2) / 2
	}
	table, err := records.FromFlat(records.Image(2, 2).WithLabels("dark", "bright"), flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestMixChain fits a plan and checks that a saved and loaded generator returns the same rows.
func TestMixChain(t *testing.T) {
	plan := must(mixChain().Plan())(t)
	ctx := context.Background()
	gen, err := plan.Fit(ctx, pixels(t, 60), privgen.OnProgress(func(privgen.Progress) {}),
		privgen.On(device.CPUWith(1)))
	if err != nil {
		t.Fatal(err)
	}
	if g := gen.Guarantee(); g.Epsilon != plan.Total().Upper || g.Epsilon > 4 {
		t.Errorf("ε = %v, planned %v", g.Epsilon, plan.Total())
	}
	if gen.Model().(*mix.Model).Rows().Len() != 50 {
		t.Errorf("%d rows", gen.Model().(*mix.Model).Rows().Len())
	}
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded := must(privgen.Load(&file))(t)
	for _, n := range []int{0, 20, 120} { // if more rows are requested than were released, rows repeat
		a := must(gen.Sample(ctx, n, privgen.Seed(3)))(t)
		b, err := loaded.Sample(ctx, n, privgen.Seed(3))
		if err != nil || a.Len() != n || records.Check(a) != nil {
			t.Fatalf("%d rows of %d: %v", a.Len(), n, err)
		}
		if got, want := firstRow(b), firstRow(a); got != want {
			t.Errorf("loaded: %v, want %v", got, want)
		}
	}
	ofClass := must(gen.Sample(ctx, 10, privgen.OfClass(1)))(t)
	for _, l := range ofClass.(*records.Table).Labels() {
		if l != 1 {
			t.Errorf("a row of class %d", l)
		}
	}
	var param *param.Error
	if _, err := gen.Sample(ctx, 1, privgen.OfClass(7)); !errors.As(err, &param) {
		t.Errorf("a class that does not exist: %v", err)
	}
}

func firstRow(d records.Data) [4]float32 {
	if d.Len() == 0 {
		return [4]float32{}
	}
	var b device.Batch
	d.Range(0, 1, &b)
	return [4]float32(b.Dense.Row(0))
}

// TestMixPlanIsAValue checks that chains can be forked, and that plans are unchanged after JSON.
func TestMixPlanIsAValue(t *testing.T) {
	chain := mixChain()
	other := chain.Mixtures(mix.Config{Sampling: mix.Poisson{Nominal: 60, Degree: 6}, Mixtures: 500,
		ClipNorm: 1})
	a, errA := chain.Plan()
	b, errB := other.Plan()
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Stages()[0].Count != 50 || b.Stages()[0].Count != 500 {
		t.Error("forks of a chain affect each other")
	}
	text := must(json.Marshal(a))(t)
	back, err := privgen.ReadPlan(text)
	if err != nil || back.Total() != a.Total() || back.String() != a.String() {
		t.Errorf("read back: %v\n%v\n%v", err, back, a)
	}
	if _, err := privgen.Mix(records.Schema{}, accountant.Budget{}).Plan(); err == nil {
		t.Error("an empty chain is planned")
	}
}
