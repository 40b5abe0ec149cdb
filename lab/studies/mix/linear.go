package main

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mix"
)

// Constants of fitLinear, for features scaled such that rows have about unit length.
const (
	ridge  = 1e-3 // weight of ‖W‖²/2 in the loss
	passes = 5    // over the rows
	rate   = 0.5  // η₀ in η_t = η₀/(1 + t·ridge·η₀)
)

// linear is a linear model Y = W·[x; 1] learnt from noisy mixtures.
type linear struct {
	dim, classes int
	w            []float64 // classes × (dim+1); the last column is the constant
}

// fitLinear fits least squares from features to labels by stochastic gradient descent on released
// rows, whose features have noise of standard deviation sigma.
//
// The gradient (Wx' − y')x'ᵀ of a noisy row has mean (Wx − y)xᵀ + σ²·W. The noise therefore acts as
// a ridge, which does not vanish with more data. Because σ is public, σ²·W is subtracted. This
// leaves unbiased gradients of the loss without noise. Step sizes decrease as 1/t, and the second
// half of the iterates is averaged. Mixtures vary much less than records, by a factor of about √ℓ.
// Features and labels are therefore centred, and the constant is computed from their means.
//
// The public seed determines the order of the rows.
//
// Errors: ctx.Err(). Source: Lee et al. 2019, Theorem 2 (a variant of SGD whose excess loss falls
// as log(T)/T); Shamir and Zhang 2013.
func fitLinear(ctx context.Context, rows *mix.Rows, sigma float64, seed uint64) (*linear, error) {
	return newLinearRun(rows, sigma).fit(ctx, seed)
}

// predict sets dst to the class with the largest output, for every record of a batch.
func (l *linear) predict(b device.Batch, dst []int32) {
	for i := range b.Rows {
		dst[i] = int32(floats.MaxIdx(l.outputs(b.Dense.Row(i))))
	}
}

// outputs returns W·[x; 1].
func (l *linear) outputs(x []float32) []float64 {
	out := make([]float64, l.classes)
	for c := range out {
		w := l.w[c*(l.dim+1) : (c+1)*(l.dim+1)]
		out[c] = w[l.dim]
		for j, v := range x {
			out[c] += w[j] * float64(v)
		}
	}
	return out
}

// linearRun is the state of one gradient descent. Centred features are multiplied by scale, so rows
// have about unit length.
type linearRun struct {
	rows         *mix.Rows
	x, y         []float64 // column means
	scale, sigma float64
	w, average   []float64
}

func newLinearRun(r *mix.Rows, sigma float64) *linearRun {
	s := &linearRun{rows: r, x: make([]float64, r.Dim()), y: make([]float64, r.Classes())}
	n := float64(max(r.Len(), 1))
	square := 0.0
	for i := range r.Len() {
		for j, v := range r.Features(i) {
			s.x[j] += float64(v) / n
			square += float64(v) * float64(v) / n
		}
		for k, v := range r.Labels(i) {
			s.y[k] += float64(v) / n
		}
	}
	for _, v := range s.x {
		square -= v * v
	}
	s.scale = 1 / math.Sqrt(max(square, 1e-12)) // rows of about unit length
	s.sigma = sigma * s.scale
	s.w, s.average = make([]float64, r.Classes()*r.Dim()), make([]float64, r.Classes()*r.Dim())
	return s
}

func (s *linearRun) fit(ctx context.Context, seed uint64) (*linear, error) {
	n, t := s.rows.Len(), 0
	total := n * passes
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(seed, 0x6c696e656172))
	row := make([]float64, s.rows.Dim())
	averaged := 0.0
	for range passes {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			if t%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			s.step(i, row, rate/(1+float64(t)*rate*ridge))
			if t++; 2*t > total {
				averaged++
				for k, v := range s.w {
					s.average[k] += (v - s.average[k]) / averaged
				}
			}
		}
	}
	return s.model(), nil
}

// step takes a step against the gradient of one row, corrected for the noise.
func (s *linearRun) step(i int, x []float64, step float64) {
	for j, v := range s.rows.Features(i) {
		x[j] = (float64(v) - s.x[j]) * s.scale
	}
	// If σ² exceeds the ridge, subtracting σ²·W makes the factor of w larger than 1. On average the
	// noise in residual·x cancels this.
	shrink := 1 - step*(ridge-s.sigma*s.sigma)
	for k, y := range s.rows.Labels(i) {
		w := s.w[k*len(x) : (k+1)*len(x)]
		residual := s.y[k] - float64(y)
		for j, v := range x {
			residual += w[j] * v
		}
		for j, v := range x {
			w[j] = shrink*w[j] - step*residual*v
		}
	}
}

// model converts the averaged weights to a linear model of features that are neither scaled nor
// centred.
func (s *linearRun) model() *linear {
	d := s.rows.Dim()
	l := &linear{dim: d, classes: s.rows.Classes(), w: make([]float64, s.rows.Classes()*(d+1))}
	for k := range l.classes {
		constant := s.y[k]
		for j := range d {
			v := s.average[k*d+j] * s.scale
			l.w[k*(d+1)+j] = v
			constant -= v * s.x[j]
		}
		l.w[k*(d+1)+d] = constant
	}
	return l
}
