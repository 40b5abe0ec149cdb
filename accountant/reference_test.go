package accountant

import (
	_ "embed"
	"encoding/json"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
)

//go:embed testdata/reference.json
var referenceJSON []byte

// maybeInf reads a number or the string "inf".
type maybeInf float64

func (m *maybeInf) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*m = maybeInf(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(m))
}

type referenceRow struct {
	ID, Family string
	Relation   string
	Params     struct {
		Events []struct {
			Q, Sigma float64
			Steps    int
		}
		Q, Sigma, Order, Delta, Epsilon, Rdp, Rho float64
		N, M, Steps, Sensitivity                  int
		Direction                                 string
		SigmasSameBatch                           []float64 `json:"sigmas_same_batch"`
		Scale                                     float64   `json:"scale_b_over_l1_sensitivity"`
		A                                         float64
		SigmaClip                                 float64 `json:"sigma_over_clip_norm"`
		SigmaReplace                              float64 `json:"sigma_over_replace_sensitivity"`
		MaxBatch                                  int     `json:"max_batch"`
		Sensitivities, Probs                      []float64
	}
	Rdp            maybeInf
	RdpExact       *float64 `json:"rdp_exact"`
	DeltaExact     float64  `json:"delta_exact"`
	EpsTight       float64  `json:"eps_tight"`
	EpsTightTol    float64  `json:"eps_tight_tol"`
	EpsTightRelTol float64  `json:"eps_tight_rel_tol"`
	RdpEps         float64  `json:"rdp_eps"`
	EpsImproved    maybeInf `json:"eps_improved"`
	DeltaImproved  float64  `json:"delta_improved"`
	SigmaExact     float64  `json:"sigma_exact"`
	EpsilonExact   float64  `json:"epsilon_exact"`
	PldEps         float64  `json:"pld_eps"`
	Pessimistic    float64  `json:"pld_eps_pessimistic"`
	Optimistic     float64  `json:"pld_eps_optimistic"`
	PureEps        float64  `json:"pure_dp_eps"`
	SigmaTight     float64  `json:"sigma_tight"`
	SigmaTightTol  float64  `json:"sigma_tight_tol"`
	SigmaRDP       float64  `json:"sigma_rdp"`
	PoissonSame    float64  `json:"poisson_add_remove_same_q_sigma"`
}

func referenceRows(t testing.TB) (rows []referenceRow, orders []float64) {
	t.Helper()
	var f struct {
		About struct {
			Orders []float64 `json:"default_orders"`
		}
		Rows []referenceRow
	}
	if err := json.Unmarshal(referenceJSON, &f); err != nil {
		t.Fatal(err)
	}
	return f.Rows, f.About.Orders
}

func (r referenceRow) relation() Relation {
	if r.Relation == "replace_one" {
		return ReplaceOne
	}
	return AddOrRemoveOne
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// within fails unless lo ≤ v ≤ hi.
func within(t *testing.T, what string, v, lo, hi float64) {
	t.Helper()
	if !(v >= lo && v <= hi) {
		t.Errorf("%s: %.12g is not in [%.12g, %.12g]", what, v, lo, hi)
	}
}

// brackets checks that b contains the true value, which is known to ±tol. It also checks that the
// upper end exceeds the true value by at most the relative amount rel.
func brackets(t *testing.T, b Bound, truth, tol, rel float64) {
	t.Helper()
	within(t, "upper", b.Upper, truth-tol, truth*(1+rel)+tol)
	within(t, "lower", b.Lower, 0, truth+tol)
	if !(b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
		t.Errorf("got %+v, want Lower ≤ Estimate ≤ Upper", b)
	}
}

func poissonSteps(q, sigma float64, steps int) Event {
	return Repeated{PoissonSampled{q, Gaussian{sigma}}, steps}
}

func TestReference(t *testing.T) {
	rows, orders := referenceRows(t)
	checked := 0
	for _, r := range rows {
		p := r.Params
		steps := max(1, p.Steps)
		t.Run(r.ID, func(t *testing.T) {
			checked++
			switch r.Family {
			case "rdp_gaussian":
				v := must[float64](t)(RDP(Repeated{Gaussian{p.Sigma}, steps}, p.Order, r.relation()))
				within(t, "rdp", v, *r.RdpExact*(1-1e-12), *r.RdpExact*(1+1e-12))
			case "rdp_poisson_gaussian":
				v := must[float64](t)(RDP(PoissonSampled{p.Q, Gaussian{p.Sigma}}, p.Order, r.relation()))
				within(t, "rdp", v, *r.RdpExact*(1-1e-15), *r.RdpExact*(1+1e-9))
			case "delta_poisson_gaussian_one_step":
				// The row is for one direction. δ of the event is the larger value of two rows.
				pair := sampledGaussian{p.Q, 1 / p.Sigma}.pairs()
				side := pair.Remove
				if p.Direction == "add" {
					side = pair.Add
				}
				low, up := pld.NewSingle(&pld.Pairs{Remove: side}, true).Delta(p.Epsilon)
				within(t, "delta", up, r.DeltaExact*(1-1e-9), r.DeltaExact*(1+1e-9)+(up-low))
				within(t, "delta", low, r.DeltaExact*(1-1e-9)-(up-low), r.DeltaExact*(1+1e-9))
			case "rdp_wor_gaussian":
				e := SampledWithoutReplacement{p.N, p.M, Gaussian{p.Sigma}}
				v := must[float64](t)(RDP(e, p.Order, ReplaceOne))
				within(t, "rdp", v, r.PoissonSame*(1-1e-9), float64(r.Rdp)*(1+1e-6))
			case "eps_wor_gaussian":
				b := must[Bound](t)(Epsilon(Repeated{SampledWithoutReplacement{p.N, p.M, Gaussian{p.Sigma}},
					steps}, p.Delta, ReplaceOne))
				brackets(t, b, r.EpsTight, r.EpsTight*r.EpsTightRelTol, 0.003)
			case "convert_single_order":
				within(t, "eps", renyi.Epsilon(p.Order, p.Rdp, p.Delta), float64(r.EpsImproved)*(1-1e-15),
					float64(r.EpsImproved)*(1+1e-12)+1e-15)
			case "convert_single_order_delta":
				within(t, "delta", renyi.Delta(p.Order, p.Rdp, p.Epsilon), r.DeltaImproved*(1-1e-12),
					r.DeltaImproved*(1+1e-12))
			case "convert_zcdp_default_orders":
				eps := must[float64](t)(RDPEpsilonOf(ZCDP{p.Rho}, p.Delta, AddOrRemoveOne, orders...))
				within(t, "eps", eps, float64(r.EpsImproved)*(1-1e-15), float64(r.EpsImproved)*(1+1e-9))
			case "eps_composition":
				var c Composed
				for _, e := range p.Events {
					c.Events = append(c.Events, poissonSteps(e.Q, e.Sigma, e.Steps))
				}
				brackets(t, must[Bound](t)(Epsilon(c, p.Delta, r.relation())), r.EpsTight, r.EpsTightTol, 0.002)
				eps := must[float64](t)(RDPEpsilonOf(c, p.Delta, r.relation()))
				within(t, "rdp eps", eps, r.EpsTight, r.RdpEps*(1+1e-6))
			case "eps_same_batch_gaussians":
				e := Repeated{PoissonSampled{p.Q, SameBatch{p.SigmasSameBatch}}, steps}
				brackets(t, must[Bound](t)(Epsilon(e, p.Delta, r.relation())), r.EpsTight, r.EpsTightTol, 0.002)
			case "gaussian_analytic_sigma":
				s, b, err := CalibrateNoise(Budget{p.Epsilon, p.Delta, r.relation()}, func(s float64) Event {
					return Gaussian{s}
				})
				if err != nil || b.Upper > p.Epsilon {
					t.Fatal(s, b, err)
				}
				within(t, "sigma", s, r.SigmaExact*(1-1e-11), r.SigmaExact*(1+1e-6))
			case "gaussian_analytic_eps":
				brackets(t, must[Bound](t)(Epsilon(Gaussian{p.Sigma}, p.Delta, r.relation())), r.EpsilonExact,
					1e-13*r.EpsilonExact, 1e-11)
			case "gaussian_analytic_delta":
				b := must[Bound](t)(Delta(Gaussian{p.Sigma}, p.Epsilon, r.relation()))
				brackets(t, b, r.DeltaExact, 1e-14*r.DeltaExact, 1e-10)
			case "rdp_laplace":
				v := must[float64](t)(RDP(Laplace{p.Scale}, p.Order, r.relation()))
				within(t, "rdp", v, *r.RdpExact*(1-1e-15), *r.RdpExact*(1+1e-11))
			case "eps_laplace":
				b := must[Bound](t)(Epsilon(Repeated{Laplace{p.Scale}, steps}, p.Delta, r.relation()))
				within(t, "upper", b.Upper, r.Optimistic, r.Pessimistic*(1+5e-4))
				within(t, "lower", b.Lower, 0, r.Pessimistic)
			case "delta_discrete_gaussian":
				b := must[Bound](t)(Delta(DiscreteGaussian{p.Sigma, p.Sensitivity}, p.Epsilon, r.relation()))
				brackets(t, b, r.DeltaExact, 1e-12*r.DeltaExact, 1e-9)
			case "eps_discrete_gaussian":
				b := must[Bound](t)(Epsilon(Repeated{DiscreteGaussian{p.Sigma, p.Sensitivity}, steps}, p.Delta,
					r.relation()))
				within(t, "upper", b.Upper, r.Optimistic, r.Pessimistic*(1+5e-4))
			case "eps_discrete_laplace":
				b := must[Bound](t)(Epsilon(Repeated{DiscreteLaplace{p.A, p.Sensitivity}, steps}, p.Delta,
					r.relation()))
				within(t, "upper", b.Upper, r.Pessimistic*(1-1e-3), min(r.Pessimistic, r.PureEps)*(1+5e-4))
			case "calibrate_sigma":
				s, b, err := CalibrateNoise(Budget{p.Epsilon, p.Delta, r.relation()}, func(s float64) Event {
					return poissonSteps(p.Q, s, steps)
				})
				if err != nil || b.Upper > p.Epsilon {
					t.Fatal(s, b, err)
				}
				within(t, "sigma", s, r.SigmaTight-r.SigmaTightTol, r.SigmaTight*(1+5e-4))
			case "eps_poisson_replace_one":
				b := must[Bound](t)(Epsilon(Repeated{SampledSum{p.Q, p.SigmaClip}, steps}, p.Delta, ReplaceOne))
				within(t, "upper", b.Upper, r.PldEps*(1-2e-3), r.PldEps*1.001)
				within(t, "lower", b.Lower, 0, r.PldEps)
				// PoissonSampled does not know that an absent record adds nothing, so it must cost more.
				b = must[Bound](t)(Epsilon(poissonSteps(p.Q, p.SigmaClip/2, steps), p.Delta, ReplaceOne))
				within(t, "upper", b.Upper, r.PldEps, 3*r.PldEps)
			case "eps_gaussian_replace_one":
				brackets(t, must[Bound](t)(Epsilon(Gaussian{p.SigmaClip / 2}, p.Delta, ReplaceOne)),
					r.EpsilonExact, 1e-13*r.EpsilonExact, 1e-11)
			case "eps_truncated_poisson":
				b := must[Bound](t)(Epsilon(Repeated{TruncatedPoisson{p.Q, p.N, p.MaxBatch, p.SigmaClip},
					steps}, p.Delta, r.relation()))
				within(t, "upper", b.Upper, 0, r.PldEps*1.002)
			case "eps_mixture_of_gaussians":
				b := must[Bound](t)(Epsilon(Repeated{GaussianMixture{p.Sigma, p.Sensitivities, p.Probs}, steps},
					p.Delta, r.relation()))
				within(t, "upper", b.Upper, r.PldEps*(1-1e-3), r.PldEps*(1+5e-4))
			case "delta_wor_gaussian_one_step":
				b := must[Bound](t)(Delta(SampledWithoutReplacement{p.N, p.M, Gaussian{p.SigmaReplace}},
					p.Epsilon, ReplaceOne))
				brackets(t, b, r.DeltaExact, 1e-11*r.DeltaExact, 1e-8)
			default:
				t.Errorf("family %q has no test", r.Family)
			}
		})
	}
	if checked != 214 {
		t.Errorf("checked %d of 214 rows", checked)
	}
}
