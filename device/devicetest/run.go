package devicetest

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// Run checks a backend against the documentation of device.Backend. A backend must also follow the
// parts of the documentation that the suite does not test.
func Run(t *testing.T, b device.Backend) {
	for _, c := range []struct {
		name string
		test func(*testing.T, device.Backend)
	}{
		{"Memory", testMemory},
		{"Products", testProducts},
		{"ProductNaN", testProductNaN},
		{"Sparse", testSparse},
		{"Functions", testFunctions},
		{"Arithmetic", testArithmetic},
		{"Rows", testRows},
		{"NormRange", testNormRange},
		{"CosSin", testCosSin},
		{"Softmax", testSoftmax},
		{"Adam", testAdam},
		{"Windows", testWindows},
		{"Convolver", testConvolver},
		{"Packer", testPacker},
		{"UpSampling", testUpSampling},
		{"Normalize", testNormalize},
		{"Blocks", testBlocks},
		{"BlockNaN", testBlockNaN},
		{"Params", testParams},
		{"Mismatch", testMismatch},
		{"Promises", testPromises},
		{"Fixed", testFixed},
		{"FixedAlone", testFixedAlone},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, b) })
	}
}

func testMemory(t *testing.T, b device.Backend) {
	if b.Name() == "" || b.Workers() < 1 {
		t.Errorf("name %q and %d workers, want a name and at least one worker", b.Name(), b.Workers())
	}
	x := newBench(t, b, 11)
	for range 30 {
		rows, cols := x.size(20), x.size(40)
		fresh := b.New(rows, cols)
		got := make([]float32, rows*cols)
		for i := range got {
			got[i] = 1
		}
		b.Download(got, fresh)
		for _, v := range got {
			if v != 0 {
				t.Fatalf("a new %d×%d matrix holds %v, want zeros", rows, cols, v)
			}
		}
		m := x.matrix(rows, cols)
		m.unchanged(x, "Upload and Download")
		numbers := x.weights(rows * cols)
		b.Upload(m.m, numbers) // to a view with margins
		m.want(x, "Upload", func(i, j int) (float64, float64) { return float64(numbers[i*cols+j]), 0 })
	}
}

func testParams(t *testing.T, b device.Backend) {
	p := device.NewParams(b, device.Shape{Name: "w", Rows: 3, Cols: 4},
		device.Shape{Name: "b", Rows: 1, Cols: 4}, device.Shape{Name: "u", Rows: 2, Cols: 5})
	if p.Len() != 26 || p.Blocks() != 3 {
		t.Fatalf("%d parameters in %d blocks, want 26 in 3", p.Len(), p.Blocks())
	}
	b.Fill(p.Block(1), 2)
	b.Fill(p.Sub(2, 3).Block(0), 3)
	both := device.Concat(b, p, p)
	b.Fill(p.Flat, 9) // must not change the copy
	got := make([]float32, both.Len())
	b.Download(got, both.Flat)
	for i, v := range got {
		want := float32(0)
		switch i %= 26; {
		case i >= 16:
			want = 3
		case i >= 12:
			want = 2
		}
		if v != want {
			t.Fatalf("parameter %d is %v, want %v", i, v, want)
		}
	}
}

// testMismatch checks that methods panic if the shapes of their operands do not match.
func testMismatch(t *testing.T, b device.Backend) {
	a, c, w := b.New(3, 4), b.New(3, 5), make([]float32, 2)
	for name, f := range map[string]func(){
		"Gemm inner":      func() { b.Gemm(false, false, 1, a, a, 0, c) },
		"Gemm outer":      func() { b.Gemm(false, true, 1, a, a, 0, c) },
		"Apply":           func() { b.Apply(device.Exp, a, c) },
		"BiasApply":       func() { b.BiasApply(device.Exp, a, c) },
		"Axpy":            func() { b.Axpy(1, a, c) },
		"Mul":             func() { b.Mul(a, a, c) },
		"ScaleRows":       func() { b.ScaleRows(a, w) },
		"ColSums":         func() { b.ColSums(w, a, 0, b.New(1, 4)) },
		"RowSquaredNorms": func() { b.RowSquaredNorms(make([]float64, 2), a) },
		"CosSin":          func() { b.CosSin(c, a, 1) },
		"Upload":          func() { b.Upload(a, w) },
		"Adam":            func() { b.Adam(a, a, a, c, device.AdamStep{T: 1}) },
		"Im2Col": func() {
			b.Im2Col(device.Window{Image: device.Image{Height: 2, Width: 2, Channels: 1}, Size: 2,
				Stride: 1}, c, a)
		},
		"Im2Col window": func() { b.Im2Col(device.Window{}, b.New(0, 0), b.New(0, 0)) },
		"UpSample": func() {
			b.UpSample(device.Image{Height: 2, Width: 2, Channels: 1}, c, a)
		},
		"BlockNorms": func() { b.BlockProductNorms(make([]float64, 2), 2, a, c) },
		"Moments":    func() { b.Moments(a, c, 1) },
		"Normalize":  func() { b.Normalize(a, a, b.New(2, 4), b.New(1, 4), b.New(1, 5)) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic for operands whose shapes do not match", name)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
