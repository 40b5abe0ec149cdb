package dpgm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
)

// testMixture returns a mixture of three networks, a batch of records and the cluster of each row.
func testMixture(t *testing.T, arch models.DensityArchitecture, rows int) (*mixture,
	device.Batch, []int32) {
	t.Helper()
	const dim = 9
	rng := rand.New(rand.NewPCG(2, 3))
	be := device.CPU()
	b := device.Batch{Rows: rows, Dense: be.New(rows, dim)}
	assigned := make([]int32, rows)
	for i := range rows {
		assigned[i] = int32(rng.IntN(2)) * 2 // cluster 1 stays empty
		b.Index = append(b.Index, int32(i))
		b.Keys = append(b.Keys, rng.Uint64())
		for j := range dim {
			b.Dense.Row(i)[j] = float32(rng.IntN(2))
		}
	}
	return newTestMixture(t, arch, dim, assigned), b, assigned
}

func newTestMixture(t *testing.T, arch models.DensityArchitecture, dim int,
	assigned []int32) *mixture {
	t.Helper()
	var parts []models.Density
	for i := range 3 {
		p, err := arch.New(device.CPU(), models.Visible{Dim: dim}, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return newMixture(device.CPU(), parts, []float64{1, 2, 3}, func(i int32) int {
		return int(assigned[i])
	})
}

func architectures() map[string]models.DensityArchitecture {
	return map[string]models.DensityArchitecture{
		"vae":     models.VAE{Hidden: []int{5}, Latent: 2},
		"rbm":     models.RBM{Hidden: 4, Chains: 3},
		"unbound": unbound{models.VAE{Hidden: []int{5}, Latent: 2}},
	}
}

// unbound builds networks that do not implement models.Binder, like a user-defined network that
// cannot share memory.
type unbound struct{ models.VAE }

func (u unbound) New(be device.Backend, v models.Visible, seed uint64) (models.Density, error) {
	g, err := u.VAE.New(be, v, seed)
	return plainGenerator{g}, err
}

type plainGenerator struct{ models.Density }

// TestARecordTouchesItsOwnClustersBlockOnly checks the fact on which the mixture's sensitivity
// depends: a record's stacked gradient is zero outside the block of its cluster's network. The norm
// of the gradient is therefore the norm of that block.
func TestARecordTouchesItsOwnClustersBlockOnly(t *testing.T) {
	for name, arch := range architectures() {
		t.Run(name, func(t *testing.T) {
			m, b, assigned := testMixture(t, arch, 20)
			m.BeginStep()
			norms := make([]float64, b.Rows)
			m.Gradients(b).SquaredNorms(norms)
			for i := range b.Rows {
				sum := device.NewParams(m.be, m.params.Shapes...)
				w := make([]float32, b.Rows)
				w[i] = 1
				m.Gradients(b).AddWeightedSum(sum, w)
				own := m.spans[assigned[i]]
				if got := energy(sum.Sub(own.lo, own.hi).Flat.Data); math.Abs(got-energy(sum.Flat.Data)) >
					1e-12 {
					t.Errorf("record %d: the block of its cluster has squared norm %v, want all of %v", i,
						got, energy(sum.Flat.Data))
				} else if math.Abs(got-norms[i]) > 1e-4*got+1e-9 {
					t.Errorf("record %d: squared norm %v, but SquaredNorms returned %v", i, got, norms[i])
				}
			}
		})
	}
}

func energy(v []float32) float64 {
	s := 0.0
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return s
}

// TestSensitivityByBruteForce removes each record in turn from a batch. It checks that the largest
// change of the sum of clipped gradients is at most the clip norm and not far below it.
func TestSensitivityByBruteForce(t *testing.T) {
	const clip = 0.5
	for name, arch := range architectures() {
		t.Run(name, func(t *testing.T) {
			m, b, _ := testMixture(t, arch, 12)
			m.BeginStep()
			whole := clippedSum(m, b, clip)
			largest := 0.0
			for gone := range b.Rows {
				moved := 0.0
				for j, v := range clippedSum(m, without(m.be, b, gone), clip) {
					d := float64(whole[j]) - float64(v)
					moved += d * d
				}
				largest = max(largest, math.Sqrt(moved))
			}
			if largest > clip*(1+1e-5) || largest < 0.9*clip {
				t.Errorf("the largest change by removing a record is %v, want about the clip norm %v",
					largest, clip)
			}
		})
	}
}

func clippedSum(m *mixture, b device.Batch, clip float64) []float32 {
	g := m.Gradients(b)
	norms := make([]float64, b.Rows)
	g.SquaredNorms(norms)
	w := make([]float32, b.Rows)
	for i, n := range norms {
		w[i] = float32(mechanism.ClipFactor(n, clip))
	}
	sum := device.NewParams(m.be, m.params.Shapes...)
	g.AddWeightedSum(sum, w)
	return sum.Flat.Data
}

func without(be device.Backend, b device.Batch, gone int) device.Batch {
	out := device.Batch{Rows: b.Rows - 1, Dense: be.New(b.Rows-1, b.Dense.Cols)}
	at := 0
	for i := range b.Rows {
		if i == gone {
			continue
		}
		copy(out.Dense.Row(at), b.Dense.Row(i))
		out.Index, out.Keys = append(out.Index, b.Index[i]), append(out.Keys, b.Keys[i])
		at++
	}
	return out
}

// TestSparseBatchesAreRoutedLikeDenseOnes checks that the same records have the same sum of clipped
// gradients in sparse and in dense form.
func TestSparseBatchesAreRoutedLikeDenseOnes(t *testing.T) {
	m, b, assigned := testMixture(t, models.VAE{Hidden: []int{5}, Latent: 2}, 15)
	sets := &device.Sparse{Cols: b.Dense.Cols, Offsets: []int{0}}
	for i := range b.Rows {
		for j, v := range b.Dense.Row(i) {
			if v != 0 {
				sets.Items = append(sets.Items, uint32(j))
			}
		}
		sets.Offsets = append(sets.Offsets, len(sets.Items))
	}
	want := clippedSum(m, b, 1)
	sparse := newTestMixture(t, models.VAE{Hidden: []int{5}, Latent: 2}, b.Dense.Cols, assigned)
	for try := range 2 { // a batch does not depend on the one before
		got := clippedSum(sparse, device.Batch{Rows: b.Rows, Sparse: sets, Index: b.Index, Keys: b.Keys},
			1)
		for j := range want {
			if math.Abs(float64(want[j]-got[j])) > 1e-5 {
				t.Fatalf("batch %d, coordinate %d: got %v, want %v as for dense records", try, j, got[j],
					want[j])
			}
		}
	}
}

// TestSegmentsCoverTheParameters checks that the segments together have all parameters of the
// mixture. Each segment must have the NominalBatch of its cluster.
func TestSegmentsCoverTheParameters(t *testing.T) {
	m, _, _ := testMixture(t, models.VAE{Hidden: []int{5}, Latent: 2}, 1)
	total := 0
	for i, s := range m.Segments() {
		total += s.Params
		if s.NominalBatch != float64(i+1) {
			t.Errorf("segment %d has NominalBatch %v, want its index plus 1", i, s.NominalBatch)
		}
	}
	if total != m.Params().Len() {
		t.Errorf("the segments together have %d parameters, want %d", total, m.Params().Len())
	}
}

// TestRoutingAllocatesNothingInSteadyState checks that routing a batch allocates nothing once a
// batch of the same size has been routed.
func TestRoutingAllocatesNothingInSteadyState(t *testing.T) {
	m, b, _ := testMixture(t, models.VAE{Hidden: []int{5}, Latent: 2}, 30)
	m.route(b)
	if n := testing.AllocsPerRun(20, func() { m.route(b) }); n != 0 {
		t.Errorf("got %v allocations for a batch, want 0", n)
	}
}
