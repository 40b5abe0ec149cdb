package device

import (
	"fmt"
	"runtime"
)

// cpu is the backend that computes on the cores of the host.
type cpu struct {
	kernels *kernels
	team    *team
	workers int
	jobs    pool[job]
	panels  pool[[]float32] // packed operands
	sums    pool[[]float64] // sums over columns
}

// CPU returns a backend that uses all cores available to the Go scheduler.
//
// Guarantee: results have the same bits for every number of cores.
func CPU() Backend { return CPUWith(0) }

// CPUWith returns a backend like the backend of CPU, but with the given number of cores; 0 or less
// means all cores.
func CPUWith(workers int) Backend { return newCPU(workers, fastest()) }

func newCPU(workers int, k *kernels) *cpu {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &cpu{kernels: k, workers: workers, team: joinTeam(workers)}
	runtime.AddCleanup(c, (*team).leave, c.team)
	return c
}

// Name returns "cpu" followed by the level of vector instructions in parentheses.
func (c *cpu) Name() string { return "cpu (" + c.kernels.name + ")" }

// Workers returns the number of cores in use.
func (c *cpu) Workers() int { return c.workers }

// New allocates a zeroed matrix.
func (c *cpu) New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("device: New: negative size %d×%d", rows, cols))
	}
	return HostMatrix(rows, cols, make([]float32, rows*cols))
}

// Upload copies src into dst.
func (c *cpu) Upload(dst Matrix, src []float32) {
	dst.check("Upload")
	if len(src) != dst.Rows*dst.Cols {
		panic("device: Upload: the slice and the matrix have different sizes: want equal sizes")
	}
	for i := range dst.Rows {
		copy(dst.Row(i), src[i*dst.Cols:])
	}
}

// Download copies src into dst.
func (c *cpu) Download(dst []float32, src Matrix) {
	src.check("Download")
	if len(dst) != src.Rows*src.Cols {
		panic("device: Download: the slice and the matrix have different sizes: want equal sizes")
	}
	for i := range src.Rows {
		copy(dst[i*src.Cols:(i+1)*src.Cols], src.Row(i))
	}
}

// job takes a blank job from the pool.
func (c *cpu) job() *job {
	j := c.jobs.get()
	j.owner, j.kernels = c, c.kernels
	return j
}

// done clears the job's operands, which may be large, and returns the job to the pool.
func (c *cpu) done(j *job) {
	j.owner = nil // the team refers to the pool, and the pool must not keep the backend alive
	j.do, j.op, j.w, j.sums, j.sparse, j.piece = nil, nil, nil, nil, nil, nil
	j.a, j.b, j.c, j.d, j.e, j.g = Matrix{}, Matrix{}, Matrix{}, Matrix{}, Matrix{}, Matrix{}
	j.product, j.fixed = product{}, FixedBlock{}
	c.jobs.put(j)
}
