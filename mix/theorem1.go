package mix

import (
	"math"
	"math/big"

	"github.com/seed7ba64551/privgen/param"
)

// PaperTheorem1 is ε of T mixtures of degree ℓ out of n records as Theorem 1 of the paper has it,
// for comparison only: nothing in this package rests on it. squared is the theorem's Δ², the
// squared effect of replacing a record in a sum that is divided by nothing: with noise σ on means
// the paper takes d_X/σ_X² + d_Y/σ_Y².
//
// Guarantee: sound under replace-one for sampling without replacement, and loose: the range of
// every coordinate stands for the distance of two records, and composition is by Rényi divergence.
//
// B(k) adds terms of alternating sign that cancel to a millionth of a millionth; they are added
// with enough binary digits to keep the rest.
//
// Errors: *param.Error.
// Source: Lee et al. 2019, Theorem 1, after Wang, Balle and Kasiviswanathan 2019, Theorem 9.
func PaperTheorem1(records, degree, mixtures int, squared, delta float64) (float64, error) {
	want := func(field string, value any, what string) error {
		return &param.Error{Path: "mix.PaperTheorem1." + field, Value: value, Want: what}
	}
	switch {
	case records < 1 || degree < 1 || degree > records:
		return 0, want("degree", degree, "between 1 and the number of records")
	case mixtures < 1:
		return 0, want("mixtures", mixtures, "a positive integer")
	case !positive(squared):
		return 0, want("squared", squared, "a positive finite number")
	case !(delta > 0 && delta < 1):
		return 0, want("delta", delta, "a probability")
	}
	t := theorem1{rate: float64(degree) / float64(records),
		x: squared / float64(degree) / float64(degree)}
	best, since := math.Inf(1), 0
	for alpha := 2; alpha <= theoremOrders && since < 12; alpha++ {
		e := float64(mixtures)*t.rdp(alpha) + math.Log(1/delta)/float64(alpha-1)
		if since++; e < best {
			best, since = e, 0
		}
	}
	return best, nil
}

// theoremOrders bounds the search: in ε(α) the first term grows without end.
const theoremOrders = 512

// theorem1 keeps the logarithms of B of even arguments.
type theorem1 struct {
	rate, x float64 // ℓ/n and Δ²/ℓ²
	logB    map[int]float64
}

// rdp is ε'_α.
func (t *theorem1) rdp(alpha int) float64 {
	a := float64(alpha)
	second := 2*math.Log(t.rate) + logChoose(alpha, 2) +
		math.Min(math.Log(4*math.Expm1(t.x)), math.Log(2)+t.x)
	sum := math.Exp(second)
	log := second
	for j := 3; j <= alpha; j++ {
		term := math.Log(4) + float64(j)*math.Log(t.rate) + logChoose(alpha, j) +
			(t.even(j/2*2)+t.even((j+1)/2*2))/2
		sum += math.Exp(term)
		log = logAdd(log, term)
	}
	if math.IsInf(sum, 1) {
		return log / (a - 1)
	}
	return math.Log1p(sum) / (a - 1)
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// even is log B(k) for an even k: the k-th central moment of a likelihood ratio, which is positive.
func (t *theorem1) even(k int) float64 {
	if v, ok := t.logB[k]; ok {
		return v
	}
	if t.logB == nil {
		t.logB = map[int]float64{}
	}
	v := logCentral(k, t.x)
	t.logB[k] = v
	return v
}

// logCentral is log Σ (−1)^i C(k,i) e^{i(i−1)x/2}. The terms reach e^{k²x/2}·2^k while the sum may
// be as small as x^{k/2}: so many bits are kept, and the powers of e^x are products of one
// exponential.
func logCentral(k int, x float64) float64 {
	bits := uint(128 + 2*float64(k) + float64(k*k)*x*0.73 + float64(k)*math.Max(0, -math.Log2(x)))
	base := bigExp(x, bits)
	sum := new(big.Float).SetPrec(bits)
	// e^{i(i−1)x/2} and e^{ix}
	power, step := big.NewFloat(1).SetPrec(bits), big.NewFloat(1).SetPrec(bits)
	for i := 0; i <= k; i++ {
		if i >= 2 {
			step.Mul(step, base)
			power.Mul(power, step)
		}
		term := new(big.Float).SetPrec(bits).SetInt(new(big.Int).Binomial(int64(k), int64(i)))
		term.Mul(term, power)
		if i%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return bigLog(sum)
}

// bigExp is e^x by Taylor's series of a small fraction of x, squared back.
func bigExp(x float64, bits uint) *big.Float {
	const halvings = 64
	prec := bits + 2*halvings
	small := new(big.Float).SetPrec(prec).SetFloat64(x)
	small.SetMantExp(small, -halvings)
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for i := int64(1); ; i++ {
		term.Mul(term, small)
		term.Quo(term, new(big.Float).SetPrec(prec).SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < -int(prec) {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog is the natural logarithm of a positive number, in float64; −Inf for what is not positive.
func bigLog(v *big.Float) float64 {
	if v.Sign() <= 0 {
		return math.Inf(-1)
	}
	mantissa := new(big.Float)
	exp := v.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exp)*math.Ln2
}
