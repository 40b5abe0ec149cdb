package dpgm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// groups is a source of probabilities with two kinds of records. Each kind has its own half of the
// coordinates. Frequencies are wrong by up to 30 %, and so are sizes.
func groups(rng *rand.Rand, p, right []float32) {
	kind := rng.IntN(2)
	for j := range p {
		p[j] = right[j] * float32(0.7+0.6*float64(j%7)/6)
		if j%2 != kind {
			p[j] /= 20
		}
	}
}

// TestDrawsAreSteered checks that the counts of a draw are close to the target for a source whose
// frequencies and sizes are wrong. Without steering the counts would be wrong by hundreds. The
// seeds are fixed.
func TestDrawsAreSteered(t *testing.T) {
	const n, dim = 4000, 40
	right, frequencies := make([]float32, dim), make([]float64, dim)
	mean := 0.0
	for j := range right {
		right[j] = 0.5 / float32(1+j/4)
		frequencies[j] = float64(right[j]) * 0.525
		mean += frequencies[j]
	}
	bins := newSizeBins(records.Sets(dim, 12))
	sizes := make([]float64, len(bins)) // unlike the source's: no record is empty or larger than 6
	for size, share := range map[int]float64{1: 0.3, 2: 0.25, 3: 0.15, 4: 0.15, 5: 0.1, 6: 0.05} {
		sizes[bins.of(size)] = share
	}
	rng := rand.New(rand.NewPCG(1, 2))
	p, own := make([]float32, dim), make([]float64, len(bins))
	for range 200 {
		groups(rng, p, right)
		m, v := moments(p, 0)
		bins.spread(own, m, v, 1.0/200)
	}
	s := marginal{frequencies, sizes, bins}.target([][]float64{own}).start()
	counts, bySize := make([]float64, dim), make([]float64, len(bins))
	ones, within, across := 0.0, 0.0, 0.0
	for range n {
		groups(rng, p, right)
		s.draw(rng, p, 0)
		size := 0
		for j, v := range p {
			if v == 1 {
				counts[j]++
				size++
			} else if v != 0 {
				t.Fatalf("a drawn bit is %v", v)
			}
		}
		bySize[bins.of(size)]++
		ones += float64(size)
		within += float64(p[0]*p[2] + p[1]*p[3])
		across += float64(p[0]*p[1] + p[2]*p[3])
	}
	for j, c := range counts {
		if want := ones * frequencies[j] / mean; math.Abs(c-want) > 10 {
			t.Errorf("coordinate %d is in %v of %d records, want %.1f", j, c, n, want)
		}
	}
	for bin, share := range sizes {
		if want := n * share; math.Abs(bySize[bin]-want) > 25 {
			t.Errorf("%v of %d records are in the bin of size %d, want %.0f", bySize[bin], n, bins[bin],
				want)
		}
	}
	// Steering must not change which coordinates occur together.
	if !(within > 5*across) {
		t.Errorf("%v pairs of one kind and %v of two kinds; want five times as many", within, across)
	}
}

// TestSteeringOfTinyFrequencies checks that no change becomes NaN, which would make records empty.
// Files may hold such frequencies.
func TestSteeringOfTinyFrequencies(t *testing.T) {
	frequencies := []float64{math.SmallestNonzeroFloat64, 0, 0, 0, 0, 0}
	s := newTarget(frequencies, []float64{0, 0, 1, 0, 0}, []float64{1, 1, 1, 1, 1},
		newSizeBins(records.Sets(6, 4))).start()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2 * steerEvery {
		s.draw(rng, []float32{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 0)
		for j, c := range s.change {
			if !(c > 0) || math.IsInf(c, 0) {
				t.Fatalf("the change of coordinate %d is %v", j, c)
			}
		}
	}
}

// TestSteeringOfEveryOutput checks that a draw from a network whose outputs are not probabilities
// gives bits.
func TestSteeringOfEveryOutput(t *testing.T) {
	bins := newSizeBins(records.Sets(6, 4))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, p := range map[string][]float32{
		"zero": {0, 0, 0, 0, 0, 0}, "one": {1, 1, 1, 1, 1, 1}, "NaN": {nan, 0.5, nan, 0.5, 0, 1},
		"infinite": {inf, -inf, inf, 0.2, 0, 1}, "negative": {-1, -2, 0.5, 0, 0, 0},
	} {
		for _, frequency := range []float64{0, 1e-300, 0.4, 1} {
			s := newTarget(slices.Repeat([]float64{frequency}, 6), []float64{0, 0, 1, 0, 0},
				[]float64{1, 1, 1, 1, 1}, bins).start()
			rng := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				row := slices.Clone(p)
				s.draw(rng, row, tiltReach)
				for _, v := range row {
					if v != 0 && v != 1 {
						t.Fatalf("%s, frequency %v: a bit is %v", name, frequency, v)
					}
				}
			}
		}
	}
}

// steered returns the file of a model with a target.
func steered(t *testing.T) *synth.File {
	t.Helper()
	schema := records.Sets(9, 4)
	data, err := records.FromItems(schema, [][]uint32{{0, 1}, {2, 3}, {4}, {0, 5, 8}, {0}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Config{Schema: schema, Budget: accountant.Budget{Epsilon: 100, Delta: 1e-5},
		Cluster: kmeans.Config{K: 1}, Marginals: &Marginals{Share: 0.5},
		Model: models.VAE{Hidden: []int{4}, Latent: 2},
		Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2,
			Optimizer: sgd.Adam(1e-2)}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	g, err := plan.Fit(privacytest.Seeded(t, t.Context(), 1), data)
	if err != nil {
		t.Fatal(err)
	}
	f, err := g.Model().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTargetsAreChecked checks that files with damaged targets are refused, and that files without
// targets, which earlier versions wrote, can be drawn from.
func TestTargetsAreChecked(t *testing.T) {
	f := steered(t)
	read := func(f *synth.File) (synth.Model, error) {
		return readModel(f, synth.Loading{Backend: device.CPU()})
	}
	if _, err := read(f); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(f.Sections, func(s synth.Section) bool { return s.Name == targetOf(0) })
	if at < 0 {
		t.Fatal("the file has no target")
	}
	with := func(number int, v float64) *synth.File {
		g := *f
		g.Sections = slices.Clone(f.Sections)
		data := slices.Clone(f.Sections[at].Data)
		binary.LittleEndian.PutUint64(data[8*number:], math.Float64bits(v))
		g.Sections[at].Data = data
		return &g
	}
	last := len(f.Sections[at].Data)/8 - 1
	short, none, unshifted := *f, *f, *f
	short.Sections = slices.Clone(f.Sections)
	short.Sections[at].Data = short.Sections[at].Data[8:]
	none.Sections = slices.Delete(slices.Clone(f.Sections), at, at+1)
	unshifted.Header = bytes.Replace(f.Header, []byte(`"tilts"`), []byte(`"others"`), 1)
	for name, bad := range map[string]*synth.File{
		"a negative frequency": with(0, -0.1), "a frequency above 1": with(8, 1.5),
		"not a number": with(3, math.NaN()), "a negative size": with(9, -1),
		"too likely": with(last, 2*keepMost), "short": &short, "missing": &none, "no shifts": &unshifted,
	} {
		if _, err := read(bad); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
	none.Header = bytes.Replace(f.Header, []byte(`"targets":true`), []byte(`"targets":false`), 1)
	m, err := read(&none)
	if err != nil {
		t.Fatal(err)
	}
	g := synth.NewGenerator(systemName, m, ledger.Guarantee{})
	if data, err := g.Sample(t.Context(), 50); err != nil || data.Len() != 50 {
		t.Errorf("a file without targets: got %v, %v, want 50 records", data, err)
	}
}
