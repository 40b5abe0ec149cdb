package merf_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// several returns a configuration that quickly trains several networks, each step on a part of the
// features.
func several() merf.GeneratorConfig {
	g := quick
	g.Generators, g.FeaturesPerStep = 3, 4
	return g
}

// TestNetworksMakeRecordsInTurn checks that network i mod 3 generates record i of a draw, and that
// the networks differ.
func TestNetworksMakeRecordsInTurn(t *testing.T) {
	const n = 9
	g := trained(t, several())
	m := g.Model().(*merf.Model)
	if m.Networks() != 3 {
		t.Fatalf("%d networks, want 3", m.Networks())
	}
	all := collectAll(t, g, n, synth.Seed(4), synth.Means(), synth.OfClass(1))
	for i := range n {
		one := must(m.Network(i % 3))(t)
		alone := collectAll(t, synth.NewGenerator("merf", one, g.Guarantee()), n, synth.Seed(4),
			synth.Means(), synth.OfClass(1))
		for column := range len(g.Schema().Columns()) {
			if got, want := all.Value(i, column), alone.Value(i, column); got != want {
				t.Errorf("record %d is %v, but network %d generates %v", i, got, i%3, want)
			}
		}
	}
	first, second := sections(t, g, "parameters"), sections(t, g, "parameters 2")
	if bytes.Equal(first, second) {
		t.Error("the first two networks have the same parameters")
	}
}

func sections(t *testing.T, g *synth.Generator, name string) []byte {
	t.Helper()
	return must(encoded(t, g).Section(name))(t)
}

// TestTheFirstNetworkIsTheOnlyOne checks that the first of several networks equals a network that
// is trained alone.
func TestTheFirstNetworkIsTheOnlyOne(t *testing.T) {
	e, g := embedded(t, 100), several()
	many := must(merf.Train(t.Context(), e, g))(t)
	g.Generators = 1
	one := must(merf.Train(t.Context(), e, g))(t)
	if !bytes.Equal(sections(t, many, "parameters"), sections(t, one, "parameters")) {
		t.Error("the first network depends on the others")
	}
}

// TestEnsemblesDoNotDependOnCores checks that training on any number of cores gives the same
// networks.
func TestEnsemblesDoNotDependOnCores(t *testing.T) {
	e := embedded(t, 100)
	var first *synth.File
	for _, cores := range []int{1, 2, 3, 7} {
		g := must(merf.Train(t.Context(), e, several(), synth.On(device.CPUWith(cores))))(t)
		f := encoded(t, g)
		if first == nil {
			first = f
		}
		if !reflect.DeepEqual(f, first) {
			t.Errorf("%d cores give other networks than 1 core", cores)
		}
	}
}

// TestLayersAreThoseOfOneNetwork checks that Layers refuses several networks, and that Network
// selects one of them.
func TestLayersAreThoseOfOneNetwork(t *testing.T) {
	m := trained(t, several()).Model().(*merf.Model)
	var mistake *param.Error
	if _, err := m.Layers(); !errors.As(err, &mistake) {
		t.Errorf("layers of three networks: got %v, want *param.Error", err)
	}
	one := must(m.Network(2))(t)
	if layers, err := one.Layers(); err != nil || len(layers) == 0 {
		t.Errorf("layers of one network: got %d layers and error %v", len(layers), err)
	}
	for _, i := range []int{-1, 3} {
		if _, err := m.Network(i); !errors.As(err, &mistake) {
			t.Errorf("network %d of 3: got %v, want *param.Error", i, err)
		}
	}
}

// TestFilesHoldTheirNetworks checks that files whose header claims a wrong, negative or huge number
// of networks are refused.
func TestFilesHoldTheirNetworks(t *testing.T) {
	f := encoded(t, trained(t, several()))
	for _, claim := range []string{`"networks":4`, `"networks":-1`, `"networks":100000000`} {
		bad := *f
		bad.Header = bytes.Replace(f.Header, []byte(`"networks":3`), []byte(claim), 1)
		if bytes.Equal(bad.Header, f.Header) {
			t.Fatal("the header does not state the number of networks")
		}
		if _, err := decoded(&bad); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", claim, err)
		}
	}
}

// TestContractOfEnsembles runs the contract suite with several networks.
func TestContractOfEnsembles(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, subjectOf(merf.Batches{}, several()))
}
