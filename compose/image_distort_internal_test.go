package compose

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDistortionsAreSmallMovements checks that an image of one grey level does not change, and that
// a spot moves by about the stated amount. Grey levels must stay within the range of the image's
// levels.
func TestDistortionsAreSmallMovements(t *testing.T) {
	const side, n = 28, 2000
	d := &movement{height: side, width: side, colours: 1, strength: 1, out: make([]float32, side*side),
		rng: rand.New(rand.NewPCG(1, 2))}
	image := make([]float32, side*side)
	for i := range image {
		image[i] = 0.25
	}
	d.image(image)
	for _, v := range image {
		if v != 0.25 {
			t.Fatalf("one grey level becomes %v", v)
		}
	}
	var mean, square float64
	for range n {
		clear(image)
		for i := 12; i < 16; i++ { // a spot around the middle
			for j := 12; j < 16; j++ {
				image[i*side+j] = 1
			}
		}
		d.image(image)
		var mass, x float64
		for i, v := range image {
			if v < 0 || v > 1 {
				t.Fatalf("got grey level %v, want one in [0, 1]", v)
			}
			mass += float64(v)
			x += float64(v) * (float64(i%side) - 13.5)
		}
		mean += x / mass / n
		square += x / mass * x / mass / n
	}
	// The shift has standard deviation 1, and so has the displacement of the middle knot.
	if dev := math.Sqrt(square); math.Abs(mean) > 0.2 || dev < 1.2 || dev > 1.6 {
		t.Errorf("a spot moves by %.3f on average, deviation %.3f, want 0 and about 1.41", mean, dev)
	}
}

// TestNormalizedDistortionsKeepThePlace checks that distorted strokes keep their centre and size if
// the distortion is normalised. It also checks that other distortions change them.
func TestNormalizedDistortionsKeepThePlace(t *testing.T) {
	const height, width, n = 32, 28, 300
	lit := func(image []float32) (s spot) { // by another formula than light
		mass, far := 0.0, 0.0
		for p, v := range image {
			mass += float64(v)
			s.x, s.y = s.x+float64(v)*float64(p%width), s.y+float64(v)*float64(p/width)
		}
		s.x, s.y = s.x/mass, s.y/mass
		for p, v := range image {
			d := math.Hypot(float64(p%width)-s.x, float64(p/width)-s.y)
			far += float64(v) * d * d
		}
		s.size = math.Sqrt(far / mass)
		return s
	}
	run := func(normalize bool) (centre, size float64) {
		d := &movement{height: height, width: width, colours: 1, strength: 1, normalize: normalize,
			out: make([]float32, height*width), rng: rand.New(rand.NewPCG(1, 2))}
		image := make([]float32, height*width)
		for range n {
			clear(image)
			for i := 6; i < 20; i++ {
				image[i*width+i], image[i*width+i+1], image[6*width+i] = 1, 1, 0.7
			}
			was := lit(image)
			d.image(image)
			is := lit(image)
			centre += math.Hypot(is.x-was.x, is.y-was.y) / n
			size += math.Abs(is.size/was.size-1) / n
		}
		return centre, size
	}
	centre, size := run(true)
	freeCentre, freeSize := run(false)
	t.Logf("normalised: %.3f pixels, %.4f of the size; free: %.3f, %.4f", centre, size, freeCentre,
		freeSize)
	if centre > 0.1 || size > 0.02 {
		t.Errorf("normalised images move by %.3f pixels on average and change size by %.4f, want less "+
			"than 0.1 and 0.02", centre, size)
	}
	if freeCentre < 1 || freeSize < 0.05 {
		t.Errorf("other images move by %.3f and change size by %.4f: too little for the comparison",
			freeCentre, freeSize)
	}
}

// TestNormalizingDarkImages checks that pixels stay in [0, 1] for images without light or with a
// single light pixel.
func TestNormalizingDarkImages(t *testing.T) {
	const side = 9
	d := &movement{height: side, width: side, colours: 1, strength: 2, normalize: true,
		out: make([]float32, side*side), rng: rand.New(rand.NewPCG(1, 2))}
	image := make([]float32, side*side)
	for i := range 200 {
		clear(image)
		if i%2 == 1 {
			image[i%len(image)] = 1
		}
		d.image(image)
		for _, v := range image {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("grey level %v", v)
			}
		}
	}
}
