package mechanism

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// undecided is a device that leaves some chunks to the host. It draws the others by the sampler.
type undecided struct {
	t       *testing.T
	units   []int32
	numbers []float64
	skip    int // every so many chunks are left
}

func (d *undecided) Units(dst []int32) { copy(dst, d.units) }

func (d *undecided) Draw(c *chunked.Chunks) []int32 {
	status := make([]int32, (c.Dim+c.Size-1)/c.Size)
	for i := range status {
		if status[i] = -1; i%d.skip != 0 {
			d.draw(c, i, &status[i])
		}
	}
	return status
}

// draw reads chunk i's words from the stream that the key and the counters describe.
func (d *undecided) draw(c *chunked.Chunks, i int, buffers *int32) {
	block, err := aes.NewCipher(c.Schedule[:32]) // the first two round keys are the key
	if err != nil {
		d.t.Fatal(err)
	}
	var iv [aes.BlockSize]byte
	binary.LittleEndian.PutUint64(iv[:8], c.Counters[2*i])
	binary.BigEndian.PutUint64(iv[8:], c.Counters[2*i+1])
	words := &keystream{ctr: cipher.NewCTR(block, iv[:])}
	normal, err := sampler.NewNormal(c.Std)
	if err != nil {
		d.t.Fatal(err)
	}
	for j := i * c.Size; j < min((i+1)*c.Size, c.Dim); j++ {
		d.numbers[j] = float64(normal.Draw(words))
	}
	*buffers = int32((words.read + entropy.Buffer - 1) / entropy.Buffer)
}

type keystream struct {
	ctr  cipher.Stream
	read int
}

func (k *keystream) Uint64() uint64 {
	var b [8]byte
	k.ctr.XORKeyStream(b[:], b[:])
	k.read++
	return binary.LittleEndian.Uint64(b[:])
}

func (d *undecided) Sum(unit, grid float64) {
	for i, u := range d.units {
		d.numbers[i] = (sampler.RoundToGrid(float64(u), unit) + d.numbers[i]) * grid
	}
	clear(d.units)
}

func (d *undecided) Replace(offset int, numbers []float64) { copy(d.numbers[offset:], numbers) }
func (d *undecided) Noisy(dst []float64)                   { copy(dst, d.numbers) }

// doubling is a tap that keeps releases, and overwrites what they release.
type doubling struct {
	entropy.Tap
	of []*entropy.Release
}

func (doubling) Source() (*entropy.Source, error)     { return entropy.Seeded(5) }
func (doubling) Spend(string, any, int, error)        {}
func (doubling) Sample(entropy.Sample)                {}
func (doubling) Refuse(purpose string, refused error) {}
func (d *doubling) Release(r *entropy.Release) error {
	d.of = append(d.of, r)
	for i := range r.Outputs[0] {
		r.Outputs[0][i] *= 2
	}
	return nil
}

// deviceGrants returns the grants of a run whose releases the tap doubles.
func deviceGrants(t *testing.T, e accountant.Event) (func() *Grant, *doubling) {
	t.Helper()
	tap := new(doubling)
	run := Begin(entropy.WithTap(context.Background(), tap), ledger.New(testBudget()))
	a := must(run.Reserve("device", e, 3))(t)
	return func() *Grant {
		return must(a.Next())(t)
	}, tap
}

// TestNoiseOnADevice: a sum on a device gets the noise that it would get on the host, in every
// step, whatever chunks the device leaves to the host. A tap sees the release and may change it.
func TestNoiseOnADevice(t *testing.T) {
	if !entropy.OnDevices() {
		t.Skip("this machine cannot hand a key to a device")
	}
	const dim = 3*8192 + 100
	for skip := 1; skip < 4; skip++ {
		here, seen := deviceGrants(t, accountant.Gaussian{NoiseMultiplier: 2})
		there, told := deviceGrants(t, accountant.Gaussian{NoiseMultiplier: 2})
		d := &undecided{t: t, units: make([]int32, dim), numbers: make([]float64, dim), skip: skip}
		for step := range 3 {
			spec := Gradient{Unit: 0x1p-18, Units: make([]int32, dim), Sensitivity: 1,
				NoiseMultiplier: 2, Workers: 2}
			for i := range spec.Units {
				spec.Units[i] = int32(i * (i - step))
			}
			copy(d.units, spec.Units)
			want := make([]float64, dim)
			if err := here().ReleaseGradient(spec, func(at int, noisy []float64) {
				copy(want[at:], noisy)
			}); err != nil {
				t.Fatal(err)
			}
			spec.Units, spec.Device, spec.Dim = nil, d, dim
			if err := there().ReleaseGradient(spec, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.numbers, want) {
				t.Errorf("step %d: the noisy sum on the device is another than on the host", step)
			}
			if a, b := seen.of[step], told.of[step]; !slices.Equal(a.Inputs[0], b.Inputs[0]) ||
				!slices.Equal(a.Outputs[0], b.Outputs[0]) || b.Inexact {
				t.Errorf("step %d: the tap is told something else than on the host", step)
			}
		}
	}
}

// TestDevicesAreRefused: a sum on a device that its noise cannot reach draws nothing.
func TestDevicesAreRefused(t *testing.T) {
	d := &undecided{t: t, units: make([]int32, 8), numbers: make([]float64, 8), skip: 1}
	good := Gradient{Unit: 0x1p-18, Device: d, Dim: 8, Sensitivity: 1, NoiseMultiplier: 2}
	for name, c := range map[string]struct {
		event  accountant.Event
		change func(*Gradient)
	}{
		"correlated noise": {banded(.1, testBand...), func(*Gradient) {}},
		"no length":        {accountant.Gaussian{NoiseMultiplier: 2}, func(g *Gradient) { g.Dim = 0 }},
		"no unit":          {accountant.Gaussian{NoiseMultiplier: 2}, func(g *Gradient) { g.Unit = 3 }},
		"units, too": {accountant.Gaussian{NoiseMultiplier: 2},
			func(g *Gradient) { g.Units = make([]int32, 8) }},
		"floats, too": {accountant.Gaussian{NoiseMultiplier: 2},
			func(g *Gradient) { g.Sum = make([]float32, 8) }},
		"a negative length": {accountant.Gaussian{NoiseMultiplier: 2}, func(g *Gradient) { g.Dim = -8 }},
		"a length without a device": {accountant.Gaussian{NoiseMultiplier: 2},
			func(g *Gradient) { g.Device, g.Sum, g.Unit = nil, make([]float32, 8), 0 }},
		"a carry": {accountant.Gaussian{NoiseMultiplier: 2},
			func(g *Gradient) { g.Carry = make([]float64, 8) }},
		"less noise than paid for": {accountant.Gaussian{NoiseMultiplier: 2},
			func(g *Gradient) { g.NoiseMultiplier = 1 }},
	} {
		next, tap := deviceGrants(t, c.event)
		spec, g := good, next()
		if g.a.band != nil {
			g.PoissonSample(1, nil, nil)
		}
		c.change(&spec)
		if err := g.ReleaseGradient(spec, nil); !errors.Is(err, ErrNotCovered) || len(tap.of) > 0 {
			t.Errorf("%s: error %v and %d releases, want ErrNotCovered and none", name, err, len(tap.of))
		}
	}
}
