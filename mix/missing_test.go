package mix_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestAModelKeepsItsPlan checks that later changes to the caller's plan do not change the model.
func TestAModelKeepsItsPlan(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	p := mustPlan(t, small(s, mix.Poisson{Nominal: 12, Degree: 3}))
	m := released(t, p, grey(t, 12, s))
	before := m.Whiten()
	p.Config = mix.Config{}
	*p = mix.Plan{}
	if !reflect.DeepEqual(m.Whiten(), before) || m.Schema().Dim() != 6 {
		t.Errorf("the model changed with the caller's plan: schema %v", m.Schema())
	}
}

// TestWhatIsMissing checks that methods return a *param.Error and do not panic if they are called
// on zero values or with nil arguments.
func TestWhatIsMissing(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	c := small(s, mix.Poisson{Nominal: 12, Degree: 3})
	c.ByClass = true
	p, data, ctx := mustPlan(t, c), grey(t, 12, s), t.Context()
	second := func(_ any, err error) error { return err }
	mistakes := map[string]error{}
	for name, none := range map[string]*mix.Plan{"zero plan": {}} {
		if x, y := none.Noise(); none.Degree() != 0 || x != 0 || y != 0 {
			t.Errorf("%s: got degree %d, noise %v and %v, want zeros", name, none.Degree(), x, y)
		}
	}
	none := new(mix.Model)
	if none.Rows().Len() != 0 || none.Whiten().Len() != 0 ||
		none.Schema().Dim() != 0 {
		t.Error("the zero model is not empty")
	}
	mistakes["draw from no model"] = second(none.Sampler(synth.Draw{Cluster: -1, Class: -1}))
	mistakes["write no model"] = second(none.Encode())
	mistakes["moments of no model"] = second(none.Moments())
	mistakes["records for no model"] = second(none.Prepared(data))
	m := released(t, p, data)
	moments := must(m.Moments())(t)
	net := must(models.MLP{}.Classifier(device.CPU(), s.Dim(), s.Classes(), 1))(t)
	mistakes["denoise"] = second(mix.Denoise(nil, s, 1))
	mistakes["prepared"] = second(m.Prepared(nil))
	mistakes["described"] = second(moments.Described(nil))
	for name, train := range map[string]func(net *models.Classifier) error{
		"rows": func(net *models.Classifier) error { return mix.Trainer{}.Fit(ctx, net, m.Rows()) },
		"moments": func(net *models.Classifier) error {
			return mix.Trainer{}.FitMoments(ctx, net, moments, 3)
		},
	} {
		mistakes["no network on "+name] = train(nil)
		if err := train(net); err != nil {
			t.Error(err)
		}
	}
	mistakes["train on no rows"] = mix.Trainer{}.Fit(ctx, net, nil)
	mistakes["train on no moments"] = mix.Trainer{}.FitMoments(ctx, net, nil, 3)
	for name, err := range mistakes {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	if n := new(mix.Rows).Len(); n != 0 {
		t.Errorf("the zero Rows has %d rows", n)
	}
}

// TestSamplingsAreValues checks that Plan refuses pointers to samplings. Pointers implement
// Sampling too, but they may be nil, may change after validation, and do not match the type
// switches.
func TestSamplingsAreValues(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	for _, sampling := range []mix.Sampling{nil, (*mix.Poisson)(nil),
		&mix.WithoutReplacement{Records: 9, Degree: 2}} {
		c := small(s, mix.Poisson{})
		c.Sampling, c.Budget.Relation = sampling, accountant.ReplaceOne
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) || wrong.Path != "mix.Config.Sampling" {
			t.Errorf("%T: got %v, want *param.Error for Sampling", sampling, err)
		}
	}
}
