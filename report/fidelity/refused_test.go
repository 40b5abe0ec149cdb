package fidelity_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/fidelity"
)

// TestEachRefusalAlone checks each refusal of a release whose other arguments are right, with
// nothing on the ledger.
func TestEachRefusalAlone(t *testing.T) {
	fake := synthetic(t)
	vectors, err := records.FromFlat(records.Binary(2), []float32{0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range relations {
		p := planned(t, config(t, r))
		other := p.Config.Budget
		other.Relation = relations[1-int(r)]
		for name, x := range map[string]struct {
			real, fake records.Data
			budget     accountant.Budget
			field      string
		}{
			"nothing wrong": {copied(t, fake), fake, p.Config.Budget, ""},
			"the relation":  {copied(t, fake), fake, other, "ledger"},
			"real vectors":  {vectors, fake, p.Config.Budget, "real"},
			"vectors":       {copied(t, fake), vectors, p.Config.Budget, "synthetic"},
			"one record":    {copied(t, fake), fake.Slice(0, 1), p.Config.Budget, "synthetic"},
			"two records":   {copied(t, fake), fake.Take([]int32{0, 59}), p.Config.Budget, ""},
			"no synthetic":  {copied(t, fake), nil, p.Config.Budget, "synthetic"},
			"no real":       {nil, fake, p.Config.Budget, "real"},
		} {
			l := ledger.New(x.budget)
			_, err := fidelity.Release(t.Context(), p, x.real, records.DeclarePublic(x.fake), l)
			var wrong *param.Error
			if x.field == "" && err != nil || x.field != "" && (!errors.As(err, &wrong) ||
				!strings.Contains(wrong.Path, x.field) || len(l.Entries()) > 0) {
				t.Errorf("%v, %s: %v, %d entries", r, name, err, len(l.Entries()))
			}
		}
	}
}

// TestPlansOfFiles: what a file says about its price is not believed, and a file that no plan
// writes is refused. A plan costs just its budget, or is refused.
func TestPlansOfFiles(t *testing.T) {
	p := planned(t, config(t, accountant.AddOrRemoveOne))
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string]struct {
		new  string
		good bool
	}{
		`"version":1`: {`"version":2`, false}, `"bins":4`: {`"bins":4,"more":1`, false},
		`"bins":`: {`"bins":100`, false}, `"epsilon":1,`: {`"epsilon":0.5,`, false},
		`"upper":0.`: {`"upper":0.0001`, true},
	} {
		changed := strings.Replace(string(text), old, c.new, 1)
		var q fidelity.Plan
		err := json.Unmarshal([]byte(changed), &q)
		if (err == nil) != c.good || changed == string(text) {
			t.Errorf("%s for %s: %v", c.new, old, err)
		}
		if err == nil && q.Total != p.Total {
			t.Errorf("%s for %s: the price is %v, want %v", c.new, old, q.Total, p.Total)
		}
	}
	for _, bad := range []*fidelity.Plan{nil, {}} {
		if _, err := json.Marshal(bad); bad != nil && err == nil {
			t.Error("a plan that was not made is written")
		}
	}
	c := p.Config // whose noise was calibrated
	c.Budget.Epsilon = p.Total.Upper
	if again, err := c.Plan(); err != nil || again.Total != p.Total {
		t.Errorf("a plan that costs its budget: %v", err)
	}
	c.Budget.Epsilon = math.Nextafter(p.Total.Upper, 0)
	if _, err := c.Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a plan that costs more than its budget: %v", err)
	}
	for bins, good := range map[int]bool{0: true, 1: true, 1000: true, 1001: false, -1: false} {
		c := config(t, accountant.AddOrRemoveOne)
		c.Bins = bins
		p, err := c.Plan()
		if (err == nil) != good || bins == 0 && p.Config.Bins != 10 {
			t.Errorf("%d bins: %v", bins, err)
		}
	}
	for _, persons := range []int{0, 3} {
		c := config(t, accountant.AddOrRemoveOne)
		if persons > 0 {
			c.Schema = c.Schema.ByPerson(persons)
		}
		c.Budget = accountant.Budget{Epsilon: 1e7, Delta: 1e-6}
		c.NoiseMultiplier = mechanism.MaxNoiseMultiplier
		_, err := c.Plan()
		want := mechanism.CheckCountNoise("", c.NoiseMultiplier*math.Sqrt(9), persons > 0)
		if (err == nil) != (want == nil) {
			t.Errorf("the largest noise, %d rows a person: %v, want %v", persons, err, want)
		}
	}
}
