package frontdoor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

func earners(t testing.TB) (records.Schema, *records.Frame) {
	t.Helper()
	schema := must(records.NewSchema(
		records.Numeric("age", 17, 90),
		records.Categorical("work", "private", "self", "state", "none"),
		records.Label("income", "<=50K", ">50K")))(t)
	var rows [][]any
	for i := range 300 {
		rows = append(rows,
			[]any{20 + i%60, []string{"private", "self", "state", "none"}[i%4],
				[]string{"<=50K", ">50K"}[i%60/40]})
	}
	f := must(records.FromValues(schema, rows...))(t)
	return schema, f
}

func merfChain(s records.Schema) privgen.MERFChain {
	return privgen.MERF(s, accountant.Budget{Epsilon: 2, Delta: 1e-5}).
		Embed(merf.Config{Kernel: rff.RBF{Dim: 60, Bandwidth: 0.5}}).
		Generator(models.MLP{Hidden: []int{20}, BatchNorm: true}).
		Train(merf.GeneratorConfig{Steps: 20, Batch: 20, Latent: 3}).
		Seed(7)
}

func TestMERFChain(t *testing.T) {
	schema, data := earners(t)
	plan := must(merfChain(schema).Plan())(t)
	if s := plan.String(); !strings.Contains(s, "mean embedding") || plan.Total().Upper > 2 {
		t.Errorf("the plan does not name the mean embedding or exceeds ε = 2:\n%s", s)
	}
	steps := map[string]int{}
	gen, err := plan.Fit(context.Background(), data, privgen.OnProgress(func(p privgen.Progress) {
		steps[p.Stage]++
	}), privgen.On(device.CPUWith(1)))
	if err != nil {
		t.Fatal(err)
	}
	if steps[merf.PurposeEmbed] != 1 || steps[merf.StageTrain] != 20 {
		t.Errorf("progress %v", steps)
	}
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	back := must(privgen.Load(&file))(t)
	if a, b := draws(t, gen, 100, privgen.Seed(3), privgen.OfClass(1)),
		draws(t, back, 100, privgen.Seed(3), privgen.OfClass(1)); a != b ||
		!strings.Contains(a, ">50K") || strings.Contains(a, "<=50K") {
		t.Errorf("the saved and loaded generator draws other records, or those of another "+
			"class:\n%s\n%s", a, b)
	}
	if back.Guarantee().Epsilon != plan.Total().Upper || back.Clusters() != 1 {
		t.Errorf("guarantee %v", back.Guarantee())
	}
}

// draws returns synthetic records as text.
func draws(t *testing.T, g *privgen.Generator, n int, opts ...privgen.DrawOption) string {
	t.Helper()
	d := must(g.Sample(context.Background(), n, opts...))(t)
	if err := records.Check(d); err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	if err := (records.CSV{Header: true}).WriteFrame(&text, d.(*records.Frame)); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestMERFPlanJSON checks that a plan is unchanged after JSON. Plan files with a lowered budget or
// missing parts must be refused. All mistakes of a chain must be reported.
func TestMERFPlanJSON(t *testing.T) {
	schema, _ := earners(t)
	plan, err := merfChain(schema).Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	back, err := privgen.ReadPlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(text, again) {
		t.Errorf("%s became %s, %v", text, again, err)
	}
	cheaper := bytes.Replace(text, []byte(`"epsilon":2,`), []byte(`"epsilon":0.5,`), 1)
	if _, err := privgen.ReadPlan(cheaper); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a plan that claims to cost less than it does: %v", err)
	}
	for _, bad := range []string{`{}`, `{"version":2}`, `{"version":2,"system":"merf"}`,
		`{"version":9,"system":"merf"}`} {
		if _, err := privgen.ReadPlan([]byte(bad)); err == nil {
			t.Errorf("%s is accepted as a plan", bad)
		}
	}
	_, err = privgen.MERF(records.Schema{},
		accountant.Budget{}).Embed(merf.Config{CountShare: 2}).Train(
		merf.GeneratorConfig{Steps: -1}).Plan()
	for _, want := range []string{"records.Schema", "Epsilon", "merf.Config.CountShare",
		"merf.GeneratorConfig.Steps"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not reported: %v", want, err)
		}
	}
}

// TestOrderOfStepsMeansNothing checks that the same calls in another order result in the same plan.
func TestOrderOfStepsMeansNothing(t *testing.T) {
	schema, _ := earners(t)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	embed := merf.Config{Kernel: rff.RBF{Dim: 60, Bandwidth: 0.5}, Seed: 3}
	train := merf.GeneratorConfig{Steps: 20, Seed: 4, Architecture: models.MLP{Hidden: []int{3}}}
	mlp := models.MLP{Hidden: []int{20}}
	var texts []string
	for _, c := range []privgen.MERFChain{
		privgen.MERF(schema, b).Seed(7).Embed(embed).Generator(mlp).Train(train),
		privgen.MERF(schema, b).Train(train).Generator(mlp).Embed(embed).Seed(7),
		privgen.MERF(schema, b).Generator(mlp).Seed(7).Train(train).Embed(embed),
	} {
		p := must(c.Plan())(t)
		text := must(json.Marshal(p))(t)
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] || strings.Contains(texts[0], `"seed":"3"`) {
		t.Errorf("the plan depends on the order of the calls:\n%s", strings.Join(texts, "\n"))
	}
}

// TestMERFStreamAndRefit checks that a stream of records can be embedded, and that another
// generator can be trained on an embedding.
func TestMERFStreamAndRefit(t *testing.T) {
	schema, data := earners(t)
	plan := must(merfChain(schema).Plan())(t)
	var stream iter.Seq2[records.Data, error] = func(yield func(records.Data, error) bool) {
		_ = yield(data.Slice(0, 100), nil) && yield(data.Slice(100, 300), nil)
	}
	l := ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
	if _, err := plan.FitStream(context.Background(), l, stream); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.FitOn(context.Background(), l, data); !errors.Is(err,
		accountant.ErrBudgetExceeded) {
		t.Errorf("a spent ledger: %v", err)
	}
	e := must(plan.Embed(context.Background(),
		ledger.New(accountant.Budget{Epsilon: 2, Delta: 1e-5}), data))(t)
	gen, err := plan.Refit(context.Background(), e)
	if err != nil || gen.Guarantee().Epsilon != e.Guarantee().Epsilon {
		t.Errorf("refitted: %v", err)
	}
}
