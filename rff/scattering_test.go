package rff_test

import (
	"encoding/json"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

func scattering(t *testing.T, c rff.Scattering, l rff.Layout) rff.Features {
	t.Helper()
	return must(c.Features(l, 1))(t)
}

// TestScatteringOfAnythingHasItsNorm checks that the float32 row of every record has a norm just
// below 1 or is zero. Values of a record may be infinite or NaN. The sensitivity of a sum of rows
// depends on this.
func TestScatteringOfAnythingHasItsNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float32{0, 1, -1, 1e-20, 1e-40, 3e38, -3e38, float32(math.NaN()), float32(math.Inf(1)),
		float32(math.Inf(-1))}
	for _, c := range []rff.Scattering{{}, {Orientations: 1, Group: 1},
		{Orientations: 3, Group: 100}} {
		for _, l := range []rff.Layout{picture, {In: 35, Height: 5, Width: 7},
			{In: 1, Height: 1, Width: 1}, {In: 105, Height: 5, Width: 7}} {
			f := scattering(t, c, l)
			ones := 0
			for trial := range 30 {
				x := make([]float32, f.In())
				for i := range x {
					if x[i] = rng.Float32(); trial%2 == 0 && rng.IntN(20) == 0 {
						x[i] = odd[rng.IntN(len(odd))]
					}
				}
				var square float64
				for _, v := range described(f, x).Row(0) {
					square += float64(v) * float64(v)
				}
				if !(square <= 1) {
					t.Fatalf("%+v of %d×%d: a row has squared norm %v, want 1 or 0", c, l.Height, l.Width, square)
				}
				if square > 1-1e-5 {
					ones++
				} else if square != 0 {
					t.Errorf("%+v of %d×%d: a row has squared norm %v, want 1 or 0", c, l.Height, l.Width, square)
				}
			}
			if ones == 0 && l.In > 1 {
				t.Errorf("%+v of %d×%d: all rows are zero: the test has no power", c, l.Height, l.Width)
			}
		}
	}
}

// TestScatteringSeesOneImage checks that an image has the same row, to the bit, alone and at any
// position in a batch, on any number of cores, and beside images that are not finite.
func TestScatteringSeesOneImage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, l := range []rff.Layout{picture, {In: 105, Height: 5, Width: 7}} {
		for _, orientations := range []int{1, 2, 8, 17} {
			f := scattering(t, rff.Scattering{Orientations: orientations}, l)
			const n = 21
			rows := make([]float32, n*f.In())
			for i := range rows {
				rows[i] = rng.Float32()
			}
			rows[0], rows[9*f.In()+3] = float32(math.NaN()), float32(math.Inf(1))
			var alone [][]float32
			for i := range n {
				alone = append(alone, described(f, rows[i*f.In():(i+1)*f.In()]).Row(0))
			}
			for _, cores := range []int{1, 3} {
				dst := device.HostMatrix(n, f.Dim(), make([]float32, n*f.Dim()))
				f.Transform(device.CPUWith(cores), dense(n, f.In(), rows), dst)
				for i, want := range alone {
					if !slices.Equal(dst.Row(i), want) {
						t.Errorf("%d cores, %d orientations: row %d depends on other rows", cores, orientations, i)
					}
				}
			}
		}
	}
}

// TestScatteringIsItsDefinition compares features of one channel a group with convolutions that add
// up their taps one after another. The scale of a channel is not compared.
func TestScatteringIsItsDefinition(t *testing.T) {
	for _, orientations := range []int{3, 16, 20} {
		compareWithDefinition(t, orientations)
	}
}

func compareWithDefinition(t *testing.T, orientations int) {
	t.Helper()
	const h, w = 9, 14
	f := scattering(t, rff.Scattering{Orientations: orientations, Group: 1},
		rff.Layout{In: h * w, Height: h, Width: w})
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, h*w)
	image := make([]float64, h*w)
	for i := range x {
		x[i] = rng.Float32()
		image[i] = float64(x[i])
	}
	coarse := averaged(image, h, w)
	sources := [][]float64{coarse}
	for o := range orientations {
		sources = append(sources, averaged(modulus(image, h, w, o, orientations), h, w))
	}
	var want []float64
	for _, s := range sources {
		want = append(want, standard(averaged(s, 5, 7))...)
	}
	for _, s := range sources {
		for o := range orientations {
			want = append(want, standard(averaged(modulus(s, 5, 7, o, orientations), 5, 7))...)
		}
	}
	var norm float64
	for _, v := range want {
		norm += v * v
	}
	got := described(f, x).Row(0)
	for i, v := range want {
		if d := math.Abs(v/math.Sqrt(norm) - float64(got[i])); !(d < 1e-5) {
			t.Fatalf("feature %d of %d is %v, want %v", i, len(want), got[i], v/math.Sqrt(norm))
		}
	}
}

// TestScatteringHasBoundedMemory checks that many orientations of a large image are not in memory
// at the same time.
func TestScatteringHasBoundedMemory(t *testing.T) {
	const side, most = 128, 16 << 20
	f := scattering(t, rff.Scattering{Orientations: 64}, rff.Layout{In: side * side, Height: side,
		Width: side})
	x := dense(1, f.In(), make([]float32, f.In()))
	dst := device.HostMatrix(1, f.Dim(), make([]float32, f.Dim()))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.Transform(device.CPUWith(1), x, dst)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("the features of one image took %d bytes, want at most %d", n, most)
	}
}

// modulus returns the modulus of an image convolved with wavelet o.
func modulus(image []float64, h, w, o, orientations int) []float64 {
	angle := math.Pi * float64(o) / float64(orientations)
	var taps [7][7]complex128
	var bells, wave complex128
	at := func(dy, dx int) (bell, wave complex128) {
		b := math.Exp(-float64(dy*dy+dx*dx) / (2 * 0.8 * 0.8))
		phase := 3 * math.Pi / 4 * (math.Cos(angle)*float64(dx) + math.Sin(angle)*float64(dy))
		return complex(b, 0), complex(b, 0) * cmplx.Exp(complex(0, phase))
	}
	for dy := -3; dy <= 3; dy++ {
		for dx := -3; dx <= 3; dx++ {
			b, v := at(dy, dx)
			bells, wave = bells+b, wave+v
		}
	}
	for dy := -3; dy <= 3; dy++ {
		for dx := -3; dx <= 3; dx++ {
			b, v := at(dy, dx)
			taps[dy+3][dx+3] = (v - wave/bells*b) / bells
		}
	}
	out := make([]float64, h*w)
	for y := range h {
		for x := range w {
			var sum complex128
			for dy := max(-3, -y); dy <= min(3, h-1-y); dy++ {
				for dx := max(-3, -x); dx <= min(3, w-1-x); dx++ {
					sum += taps[dy+3][dx+3] * complex(image[(y+dy)*w+x+dx], 0)
				}
			}
			out[y*w+x] = cmplx.Abs(sum)
		}
	}
	return out
}

// averaged returns the means of cells of 2×2 pixels. Values outside the image are 0.
func averaged(image []float64, h, w int) []float64 {
	out := make([]float64, (h+1)/2*((w+1)/2))
	for i, v := range image {
		out[i/w/2*((w+1)/2)+i%w/2] += v / 4
	}
	return out
}

// standard scales numbers to mean 0 and variance 1.
func standard(v []float64) []float64 {
	mean, deviation := stat.PopMeanStdDev(v, nil)
	for i := range v {
		v[i] = (v[i] - mean) / deviation
	}
	return v
}

// TestScatteringTellsDirections compares the features of bars. Bars that lean in opposite
// directions must be farther apart than a bar and its copy moved by half a pixel. Brightness must
// not matter.
func TestScatteringTellsDirections(t *testing.T) {
	f := scattering(t, rff.Scattering{}, picture)
	dim := bar(10, 10, 0.5, 14)
	for i := range dim {
		dim[i] /= 2
	}
	m := described(f, bar(10, 10, 0.5, 14), bar(10.5, 10, 0.5, 14), bar(10, 10, -0.5, 14), dim)
	between := func(i, j int) float64 {
		var d float64
		for k, v := range m.Row(i) {
			d += math.Pow(float64(v-m.Row(j)[k]), 2)
		}
		return math.Sqrt(d)
	}
	if moved, turned := between(0, 1), between(0, 2); turned < 2*moved {
		t.Errorf("distance %.3g if moved by half a pixel, %.3g if turned, want at least twice as much",
			moved, turned)
	}
	if faint := between(0, 3); faint > 1e-3 {
		t.Errorf("distance %.3g if half as bright, want 0", faint)
	}
}

// TestScatteringOfColours checks that every colour has the channels of a grey image of its levels,
// up to the scale of the row. Groups of one channel are normalised for each colour alone.
func TestScatteringOfColours(t *testing.T) {
	c := rff.Scattering{Orientations: 2, Group: 1}
	inGrey := scattering(t, c, picture)
	inColour := scattering(t, c, rff.Layout{In: 3 * picture.In, Height: picture.Height,
		Width: picture.Width})
	colours := [][]float32{bar(10, 10, 0.3, 14), bar(7, 9, -0.5, 10), bar(12, 12, 0, 9)}
	mixed := make([]float32, 3*picture.In)
	for p := range picture.In {
		for i, levels := range colours {
			mixed[3*p+i] = levels[p]
		}
	}
	row, n := described(inColour, mixed).Row(0), inGrey.Dim()
	if len(row) != 3*n {
		t.Fatalf("got %d features, want %d", len(row), 3*n)
	}
	for i, levels := range colours {
		grey, part := described(inGrey, levels).Row(0), row[i*n:(i+1)*n]
		var both, square, own float64
		for k, v := range grey {
			both += float64(v) * float64(part[k])
			square += float64(part[k]) * float64(part[k])
			own += float64(v) * float64(v)
		}
		if cosine := both / math.Sqrt(square*own); !(cosine > 1-1e-6) {
			t.Errorf("colour %d: its features and those of a grey image have cosine %v, want 1", i, cosine)
		}
	}
}

// TestScatteringIsRead checks that descriptions and maps can be written and read. Invalid maps and
// layouts that do not describe images must be refused.
func TestScatteringIsRead(t *testing.T) {
	c := rff.Scattering{Orientations: 4, Group: 5}
	text, err := rff.MarshalFeatures(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rff.UnmarshalFeatures(text); err != nil || got != rff.FeatureKernel(c) {
		t.Errorf("%s is read as %v, error %v", text, got, err)
	}
	var again rff.ScatteringMap
	for _, l := range []rff.Layout{picture, {In: 3 * picture.In, Height: picture.Height,
		Width: picture.Width}} {
		m := scattering(t, c, l).(*rff.ScatteringMap)
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil || again != *m {
			t.Errorf("%s is read as %+v, error %v", text, again, err)
		}
	}
	for _, bad := range []string{`{}`, `{"scattering":{"orientations":-1},"height":5,"width":5}`,
		`{"scattering":{},"height":100000,"width":100000}`, `[]`,
		`{"scattering":{},"height":5,"width":5,"colours":-1}`,
		`{"scattering":{},"height":5,"width":5,"colours":1025}`,
		`{"scattering":{},"height":0,"width":5}`, `{"scattering":{},"height":5,"width":0}`,
		`{"scattering":{},"height":32769,"width":1}`, `{"scattering":{},"height":1,"width":32769}`} {
		if err := json.Unmarshal([]byte(bad), &again); err == nil {
			t.Errorf("%s was read, want an error", bad)
		}
	}
	for _, good := range []string{`{"scattering":{},"height":5,"width":5,"colours":1024}`,
		`{"scattering":{},"height":32768,"width":1}`, `{"scattering":{},"height":1,"width":32768}`} {
		if err := json.Unmarshal([]byte(good), &again); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, l := range []rff.Layout{{In: 30}, {In: 13, Height: 2, Width: 2}} {
		if _, err := c.Features(l, 1); err == nil {
			t.Errorf("Features accepts the layout %+v, want an error", l)
		}
	}
}
