package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// logStdRange bounds the absolute value of the latent log standard deviation.
const logStdRange = 8

// latentUnit draws z = μ + σε with σ = exp(8·tanh(r/8)), where [μ | r] is its operand. ε depends
// only on the record's key, or on its position in the batch if the batch has no keys. The
// divergence from the standard Gaussian, KL = Σ ½(μ²+σ²−1) − log σ, weighted by β, is a term of the
// loss.
type latentUnit struct {
	latent int
	beta   float64
	salt   uint64 // number of such units before this one
}

func (u *latentUnit) out() int { return u.latent }

// head returns the columns of m for the mean and the raw log standard deviation, or for their
// deltas.
func (u *latentUnit) head(m device.Matrix) (mean, raw device.Matrix) {
	return m.Slice(0, m.Rows, 0, u.latent), m.Slice(0, m.Rows, u.latent, 2*u.latent)
}

func (u *latentUnit) memory(t *pass, n *node) (eps, squashed, std device.Matrix) {
	return t.keep(n, 1, u.latent), t.keep(n, 2, u.latent), t.keep(n, 3, u.latent)
}

func (u *latentUnit) forward(t *pass, n *node) {
	eps, squashed, std := u.memory(t, n)
	if t.drawNormals(eps, u.salt); !t.trains {
		t.be.Fill(eps, 0) // predictions use the mean
	}
	mean, raw := u.head(t.operand(n, 0))
	z := t.value(n)
	t.be.Fill(squashed, 0)
	t.be.Axpy(1.0/logStdRange, raw, squashed)
	t.be.Apply(device.Tanh, squashed, squashed)
	t.be.Fill(std, 0)
	t.be.Axpy(logStdRange, squashed, std)
	t.be.Apply(device.Exp, std, std)
	t.be.Mul(z, std, eps)
	t.be.Axpy(1, mean, z)
}

func (t *pass) drawNormals(dst device.Matrix, salt uint64) {
	l := dst.Cols
	t.host = grow(t.host, t.rows*l)
	for i := range t.rows {
		keyedNormals(t.host[i*l:(i+1)*l], t.key(i)^salt<<32)
	}
	t.be.Upload(dst, t.host)
}

// key returns the key of record i.
func (t *pass) key(i int) uint64 {
	if t.batch.Keys == nil {
		return uint64(i)
	}
	return t.batch.Keys[i]
}

// backward: with dz = ∂loss/∂z, the derivatives are ∂/∂μ = dz + βμ and ∂/∂r = (dz·ε·σ + β(σ² −
// 1))·(1−tanh²).
func (u *latentUnit) backward(t *pass, n *node) {
	eps, squashed, std := u.memory(t, n)
	mean, _ := u.head(t.operand(n, 0))
	dz, tmp, beta := t.delta(n), t.keep(n, 4, u.latent), float32(u.beta)
	t.pull(n, 0, func(dx device.Matrix) {
		dMean, dRaw := u.head(dx)
		t.be.Apply(device.Identity, dMean, dz)
		t.be.Axpy(beta, mean, dMean)
		t.be.Mul(dRaw, dz, eps)
		t.be.Mul(dRaw, dRaw, std)
		t.be.Mul(tmp, std, std)
		t.be.Axpy(beta, tmp, dRaw)
		t.be.Fill(tmp, -beta)
		t.be.Axpy(1, tmp, dRaw)
		t.be.Gradient(device.Tanh, dRaw, squashed)
	})
}

func (u *latentUnit) addLosses(t *pass, n *node, dst []float64) {
	mean, _ := u.head(t.operand(n, 0))
	_, squashed, _ := u.memory(t, n)
	mean, squashed = toHost(t.be, mean, nil), toHost(t.be, squashed, nil)
	for i := range t.rows {
		dst[i] += u.beta * klRow(mean.Row(i), squashed.Row(i))
	}
}

func klRow(mean, squashed []float32) float64 {
	kl := 0.0
	for j, m := range mean {
		rho := logStdRange * float64(squashed[j])
		kl += 0.5*(float64(m)*float64(m)+math.Expm1(2*rho)) - rho
	}
	return kl
}
