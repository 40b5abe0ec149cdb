package merf_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// several is quick training of several networks, by parts of the features.
func several() merf.GeneratorConfig {
	g := quick
	g.Generators, g.FeaturesPerStep = 3, 4
	return g
}

// TestNetworksMakeRecordsInTurn: record i of a draw is that of network i mod 3, and the networks
// differ.
func TestNetworksMakeRecordsInTurn(t *testing.T) {
	const n = 9
	g := trained(t, several())
	m := g.Model().(*merf.Model)
	if m.Networks() != 3 {
		t.Fatalf("%d networks, want 3", m.Networks())
	}
	all := collectAll(t, g, n, synth.Seed(4), synth.Means(), synth.OfClass(1))
	for i := range n {
		one, err := m.Network(i % 3)
		if err != nil {
			t.Fatal(err)
		}
		alone := collectAll(t, synth.NewGenerator("merf", one, g.Guarantee()), n, synth.Seed(4),
			synth.Means(), synth.OfClass(1))
		for column := range len(g.Schema().Columns()) {
			if got, want := all.Value(i, column), alone.Value(i, column); got != want {
				t.Errorf("record %d: %v, of network %d %v", i, got, i%3, want)
			}
		}
	}
	first, second := sections(t, g, "parameters"), sections(t, g, "parameters 2")
	if bytes.Equal(first, second) {
		t.Error("two networks are one")
	}
}

func sections(t *testing.T, g *synth.Generator, name string) []byte {
	t.Helper()
	data, err := encoded(t, g).Section(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTheFirstNetworkIsTheOnlyOne: more networks leave the first as it is alone.
func TestTheFirstNetworkIsTheOnlyOne(t *testing.T) {
	e, g := embedded(t, 100), several()
	many, err := merf.Train(t.Context(), e, g)
	if err != nil {
		t.Fatal(err)
	}
	g.Generators = 1
	one, err := merf.Train(t.Context(), e, g)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sections(t, many, "parameters"), sections(t, one, "parameters")) {
		t.Error("the first network depends on the others")
	}
}

// TestEnsemblesDoNotDependOnCores: networks trained side by side are those trained one by one.
func TestEnsemblesDoNotDependOnCores(t *testing.T) {
	e := embedded(t, 100)
	var first *synth.File
	for _, cores := range []int{1, 2, 3, 7} {
		g, err := merf.Train(t.Context(), e, several(), synth.On(device.CPUWith(cores)))
		if err != nil {
			t.Fatal(err)
		}
		f := encoded(t, g)
		if first == nil {
			first = f
		}
		if !reflect.DeepEqual(f, first) {
			t.Errorf("%d cores give other networks", cores)
		}
	}
}

// TestLayersAreThoseOfOneNetwork.
func TestLayersAreThoseOfOneNetwork(t *testing.T) {
	m := trained(t, several()).Model().(*merf.Model)
	var mistake *param.Error
	if _, err := m.Layers(); !errors.As(err, &mistake) {
		t.Errorf("layers of three networks: %v", err)
	}
	one, err := m.Network(2)
	if err != nil {
		t.Fatal(err)
	}
	if layers, err := one.Layers(); err != nil || len(layers) == 0 {
		t.Errorf("%d layers: %v", len(layers), err)
	}
	for _, i := range []int{-1, 3} {
		if _, err := m.Network(i); !errors.As(err, &mistake) {
			t.Errorf("network %d of 3: %v", i, err)
		}
	}
}

// TestFilesHoldTheirNetworks: a header that claims more networks than there are, or none that a
// number can mean, is no file of this system.
func TestFilesHoldTheirNetworks(t *testing.T) {
	f := encoded(t, trained(t, several()))
	for _, claim := range []string{`"networks":4`, `"networks":-1`, `"networks":100000000`} {
		bad := *f
		bad.Header = bytes.Replace(f.Header, []byte(`"networks":3`), []byte(claim), 1)
		if bytes.Equal(bad.Header, f.Header) {
			t.Fatal("the header does not say how many networks there are")
		}
		if _, err := decoded(&bad); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: %v", claim, err)
		}
	}
}

// TestContractOfEnsembles: several networks go through every checkpoint and file.
func TestContractOfEnsembles(t *testing.T) {
	synthtest.Run(t, subjectOf(merf.Batches{}, several()))
}
