package models

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// own is a user-defined architecture.
type own struct{ VAE }

func (own) Name() string { return "own" }

func TestArchitectureJSON(t *testing.T) {
	for _, a := range []DensityArchitecture{PaperVAE(),
		RBM{Hidden: 200, Chains: 100, Sweeps: 1, WeightStd: 0.01},
		VAE{Hidden: []int{3, 2}, Latent: 1, Activation: Tanh, OutputBias: -2},
		RBM{Hidden: 3, Chains: 2, Sweeps: 5, SampleSweeps: 7, VisibleBias: -1}} {
		text := must(MarshalArchitecture(a))(t)
		back, err := UnmarshalDensity(text)
		if err != nil || !reflect.DeepEqual(a, back) {
			t.Errorf("%s was read back as %+v, %v", text, back, err)
		}
	}
	text := must(MarshalArchitecture(own{PaperVAE()}))(t)
	if _, err := UnmarshalDensity(text); !errors.Is(err, ErrFormat) {
		t.Errorf("an unknown name: %v", err)
	}
	if back, err := UnmarshalDensity(text, own{PaperVAE()}); err != nil || back.Name() != "own" {
		t.Errorf("a user-defined architecture: %v, %v", back, err)
	}
	for _, bad := range []string{``, `[]`, `{"name":"vae","params":[]}`,
		`{"name":"vae","params":{"latent":-1}}`, `{"name":"vae","params":{"activation":"x"}}`,
		`{"name":"rbm","params":{"hidden":2}}`} {
		if _, err := UnmarshalDensity([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestSizeIsWhatNewTakes: Size agrees with the network that New builds, since a file reader relies
// on Size before it allocates memory.
func TestSizeIsWhatNewTakes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for range 30 {
		v := Visible{Dim: 1 + rng.IntN(20)}
		hidden := make([]int, rng.IntN(4))
		for i := range hidden {
			hidden[i] = 1 + rng.IntN(9)
		}
		for _, a := range []DensityArchitecture{VAE{Hidden: hidden, Latent: 1 + rng.IntN(4)},
			RBM{Hidden: 1 + rng.IntN(9), Chains: 1 + rng.IntN(5)}} {
			g := must(a.New(device.CPU(), v, 1))(t)
			params, state := a.(interface{ Size(Visible) (int64, int64) }).Size(v)
			if params != int64(g.Params().Len()) {
				t.Errorf("%+v: Size returns %d parameters, the network has %d", a, params, g.Params().Len())
			}
			if s, ok := g.(Stateful); ok && state < int64(len(s.AppendState(nil)))-8 {
				t.Errorf("%+v: Size returns %d bytes of state, want %d", a, state, len(s.AppendState(nil)))
			}
		}
	}
	if params, _ :=
		(VAE{Hidden: []int{math.MaxInt, math.MaxInt}, Latent: 1}).Size(
			Visible{Dim: math.MaxInt}); params != math.MaxInt64 {
		t.Errorf("a size beyond int64 is %d, want math.MaxInt64", params)
	}
}

func TestNamesSurviveText(t *testing.T) {
	for a := range Activation(len(activationNames.List)) {
		text, err := json.Marshal(a)
		var back Activation
		if err != nil || json.Unmarshal(text, &back) != nil || back != a {
			t.Errorf("%s became %v", text, back)
		}
	}
	for l := range Likelihood(len(likelihoodNames.List)) {
		text, err := json.Marshal(l)
		var back Likelihood
		if err != nil || json.Unmarshal(text, &back) != nil || back != l {
			t.Errorf("%s became %v", text, back)
		}
	}
	if _, err := json.Marshal(Activation(99)); err == nil {
		t.Error("an unknown activation was written as JSON")
	}
	if Likelihood(9).String() != "Likelihood(9)" {
		t.Error(Likelihood(9))
	}
}

// TestNilArchitectures: writing a nil architecture is an error. When reading, a nil among the given
// architectures is ignored.
func TestNilArchitectures(t *testing.T) {
	_, generator := MarshalArchitecture(nil)
	_, critic := MarshalArchitecture(nil)
	_, decoding := MarshalArchitecture(nil)
	for _, err := range []error{generator, critic, decoding} {
		if !names(err, "models: architecture") {
			t.Errorf("a nil architecture: %v", err)
		}
	}
	text := must(MarshalArchitecture(PaperVAE()))(t)
	if back, err := UnmarshalDensity(text, nil, own{}); err != nil ||
		!reflect.DeepEqual(back, PaperVAE()) {
		t.Errorf("with a nil among the given architectures: %v, %v", back, err)
	}
}
