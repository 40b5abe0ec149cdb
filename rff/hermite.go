package rff

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/param"
)

// Hermite approximates the Gaussian kernel by the first terms of its expansion in Hermite functions
// (Mehler's formula). If only a few coordinates are combined, it needs far fewer features than a
// random map. The kernel is the mean of the Gaussian kernels of single coordinates. If Products is
// positive, the mean of the Gaussian kernels of small random subsets of coordinates is added, with
// weights. The features of a subset are products.
//
// Guarantee: the norm is at most 1, because the features of one coordinate are the leading terms of
// a series whose squares add up to 1.
//
// Source: Vinaroz et al. 2022, "Hermite polynomial features for private data
// generation", section 3.
type Hermite struct {
	Order     int     `json:"order"`     // number of features of a coordinate: degrees 0 to Order−1
	Bandwidth float64 `json:"bandwidth"` // ℓ of exp(−(x−y)²/(2ℓ²)), for coordinates in [0,1]
	// Products is the number of random subsets of coordinates whose products are also features, at
	// most 65,536. Subset is the size of a subset, 2 or 3 (0 means 2). ProductOrder is the number of
	// degrees of each coordinate that are multiplied (0 means Order).
	Products     int `json:"products,omitempty"`
	Subset       int `json:"subset,omitempty"`
	ProductOrder int `json:"product_order,omitempty"`
	// Share is the fraction of the squared norm that single coordinates have if there are products; 0
	// means one half.
	Share float64 `json:"share,omitempty"`
}

func (c Hermite) withDefaults() Hermite {
	if c.Subset == 0 {
		c.Subset = 2
	}
	if c.ProductOrder == 0 {
		c.ProductOrder = c.Order
	}
	if c.Share == 0 {
		c.Share = 0.5
	}
	if c.Products == 0 {
		c.Share = 1
	}
	return c
}

// Embedding implements [EmbeddingKernel]. The seed chooses the subsets.
func (c Hermite) Embedding(l Layout, seed uint64) (Embedding, error) {
	d := c.withDefaults()
	if err := errors.Join(l.Validate(), d.validate(l.In)); err != nil {
		return nil, err
	}
	axes, series := make([]axis, l.In), newMehler(d.Order, d.Bandwidth)
	for i := range axes {
		axes[i] = mehler{i, series}
	}
	t := newTensor(l.In, axes, 1, 2)
	for i := range axes {
		t.add(math.Sqrt(d.Share/float64(l.In)), []int{d.Order}, i)
	}
	d.addProducts(t, rand.New(rand.NewPCG(seed, stream)))
	return t, nil
}

func (c Hermite) addProducts(t *tensor, rng *rand.Rand) {
	widths := make([]int, c.Subset)
	for i := range widths {
		widths[i] = c.ProductOrder
	}
	for range c.Products {
		t.add(math.Sqrt((1-c.Share)/float64(c.Products)), widths, subset(rng, t.in, c.Subset)...)
	}
}

// subset draws k different integers from 0 to n-1.
func subset(rng *rand.Rand, n, k int) []int {
	var s []int
draw:
	for len(s) < k {
		v := rng.IntN(n)
		for _, u := range s {
			if u == v {
				continue draw
			}
		}
		s = append(s, v)
	}
	return s
}

const (
	maxHermite = 1 << 10 // degrees; the recurrence would underflow with more
	minMehler  = 0.02    // ℓ; a smaller ℓ would need thousands of degrees

	// maxProducts limits memory, since a kernel may come from a file and each product takes about 340
	// bytes.
	maxProducts = 1 << 16
)

func (c Hermite) validate(in int) error {
	var errs []error
	add := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, param.New("rff.Hermite."+field, value, want))
		}
	}
	add(c.Order >= 1 &&
		c.Order <= maxHermite, "Order", c.Order, fmt.Sprintf("from 1 to %d", maxHermite))
	add(c.Bandwidth >= minMehler &&
		c.Bandwidth <= 1e6, "Bandwidth", c.Bandwidth, fmt.Sprintf("a number in [%v, 1e6]", minMehler))
	add(c.Products >= 0 && c.Products <= maxProducts, "Products", c.Products,
		fmt.Sprintf("from 0 to %d", maxProducts))
	add(c.Subset == 2 || c.Subset == 3, "Subset", c.Subset, "2 or 3")
	add(c.Products == 0 ||
		c.Subset <= in, "Subset", c.Subset, fmt.Sprintf("at most the %d coordinates", in))
	add(c.ProductOrder >= 1 &&
		c.ProductOrder <= c.Order, "ProductOrder", c.ProductOrder, "from 1 to Order")
	add(c.Share > 0 && c.Share <= 1, "Share", c.Share, "a number in (0, 1]")
	if len(errs) == 0 {
		products := float64(c.Products) * math.Pow(float64(c.ProductOrder), float64(c.Subset))
		dim := float64(in)*float64(c.Order) + products
		add(dim <= 1<<24, "Order", c.Order,
			fmt.Sprintf("at most %d features in all, not %.0f", 1<<24, dim))
	}
	return errors.Join(errs...)
}

// mehler is the axis of one coordinate. Its features are √λ_c·f_c(x) for every c below the order,
// where
//
//	exp(−ρ/(1−ρ²)·(x−y)²) = Σ_c λ_c f_c(x) f_c(y),  λ_c = (1−ρ)ρᶜ,
//	f_c(x) = H_c(x)·exp(−ρ/(1+ρ)·x²)/√N_c,  N_c = 2ᶜ c! √((1−ρ)/(1+ρ)).
//
// Coordinates are measured from the middle of [0,1], which minimises the error of truncating the
// series.
type mehler struct {
	at int
	*mehlerSeries
}

// mehlerSeries holds the coefficients, which all coordinates share.
type mehlerSeries struct {
	rho, decay, start float64
	// Feature c+1 is rise[c]·x·(feature c) − fall[c]·(feature c−1). slope[c] is the factor of feature
	// c−1 in the derivative of feature c.
	rise, fall, slope []float64
}

// newMehler returns the series for a bandwidth ℓ: it solves ρ/(1−ρ²) = 1/(2ℓ²) for ρ.
func newMehler(order int, bandwidth float64) *mehlerSeries {
	l := bandwidth * bandwidth
	rho := 1 / (l + math.Hypot(l, 1))
	s := &mehlerSeries{rho: rho, decay: rho / (1 + rho),
		start: math.Sqrt(math.Sqrt((1 - rho) * (1 + rho)))}
	for c := range order {
		k := float64(c)
		s.rise = append(s.rise, math.Sqrt(2*rho/(k+1)))
		s.fall = append(s.fall, rho*math.Sqrt(k/(k+1)))
		s.slope = append(s.slope, math.Sqrt(2*k*rho))
	}
	return s
}

func (a mehler) width() int { return len(a.rise) }

// place returns a coordinate minus 0.5. Values outside [0, 1] are clamped, and NaN counts as 0.
func (a mehler) place(v float32) (x float64, inside bool) {
	if !(v >= 0) {
		return -0.5, false
	}
	return float64(min(v, 1)) - 0.5, v <= 1
}

func (a mehler) features(x, p []float32) {
	v, _ := a.place(x[a.at])
	now, before := a.start*math.Exp(-a.decay*v*v), 0.0
	for c := range p {
		p[c] = float32(now)
		now, before = a.rise[c]*v*now-a.fall[c]*before, now
	}
}

// backward adds the derivative, which it computes by H_c′ = 2c·H_{c−1}.
func (a mehler) backward(x, dp, dx []float32) {
	v, inside := a.place(x[a.at])
	if !inside {
		return
	}
	now, before := a.start*math.Exp(-a.decay*v*v), 0.0
	var sum float64
	for c, d := range dp {
		sum += float64(d) * (a.slope[c]*before - 2*a.decay*v*now)
		now, before = a.rise[c]*v*now-a.fall[c]*before, now
	}
	dx[a.at] += float32(sum)
}
