//go:build cuda && cgo

package cuda_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/cuda"
)

func TestOpenOtherDevices(t *testing.T) {
	for _, ordinal := range []int{-1, 999} {
		if b, err := cuda.Open(cuda.Device(ordinal)); b != nil || !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("device %d: got %v, %v, want device.ErrUnavailable", ordinal, b, err)
		}
	}
}

// TestFunctionsOfAnyNumber checks that functions are accurate to a few units in the last place for
// random bit patterns. These include all kinds of numbers.
func TestFunctionsOfAnyNumber(t *testing.T) {
	b, rng := open(t), rand.New(rand.NewPCG(2, 1))
	numbers := make([]float32, 1<<18)
	for i := range numbers {
		numbers[i] = math.Float32frombits(rng.Uint32())
		if i%2 == 0 {
			numbers[i] = float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(30)-20)))
		}
	}
	x, y := b.New(1, len(numbers)), b.New(1, len(numbers))
	b.Upload(x, numbers)
	for f, exact := range map[device.Func]func(float64) float64{
		device.Exp: math.Exp, device.Log: math.Log, device.Tanh: math.Tanh,
		device.Sigmoid: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		device.Softplus: func(x float64) float64 {
			return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
		},
	} {
		b.Apply(f, y, x)
		worst := 0.0
		for i, got := range host(b, y) {
			want := exact(float64(numbers[i]))
			if off := units(got, want); off > worst {
				worst = off
				if off > 4 {
					t.Fatalf("%v(%g) is %g, want %g", f, numbers[i], got, want)
				}
			}
		}
		t.Logf("%v: the largest error is %.2f units in the last place", f, worst)
	}
	testAngles(t, b, x, numbers)
}

func testAngles(t *testing.T, b device.Backend, x device.Matrix, numbers []float32) {
	t.Helper()
	waves := b.New(1, 2*len(numbers))
	b.CosSin(waves, x, 1)
	got, worst := host(b, waves), 0.0
	for i, v := range numbers {
		sine, cosine := math.Sincos(float64(v))
		off := max(math.Abs(float64(got[i])-cosine), math.Abs(float64(got[len(numbers)+i])-sine))
		if off > worst {
			worst = off
			if off > 0x1p-22 {
				t.Fatalf("the cosine and sine of %g are %g and %g, want %g and %g", v, got[i],
					got[len(numbers)+i],
					cosine, sine)
			}
		}
		if math.IsNaN(cosine) != (got[i] != got[i]) {
			t.Fatalf("the cosine of %g is %g: want NaN only for NaN and infinities", v, got[i])
		}
	}
	t.Logf("cosine and sine: the largest error is %.2g", worst)
}

// TestProductsHaveTheBitsOfTheCPU checks that every product is the same chain of multiply-adds on
// the device and on the CPU, for all forms and with tiles of every size.
func TestProductsHaveTheBitsOfTheCPU(t *testing.T) {
	here, there := device.CPU(), open(t)
	rng := rand.New(rand.NewPCG(4, 1))
	for i, size := range [][3]int{{1, 1, 1}, {5, 3, 100}, {600, 4, 71}, {70, 33, 9}, {33, 200, 8},
		{2, 5, 1030}, {1100, 1000, 3}} {
		for form := range 16 {
			m, n, k := size[0], size[1], size[2]
			transA, transB := form&1 != 0, form&2 != 0
			alpha, beta := []float32{1, .37}[form>>2&1], []float32{0, -1.3}[form>>3&1]
			a, b, c := [2]int{m, k}, [2]int{k, n}, [2]int{m, n}
			if transA {
				a = [2]int{k, m}
			}
			if transB {
				b = [2]int{n, k}
			}
			var all [3]pair[device.Matrix]
			for j, shape := range [3][2]int{a, b, c} {
				all[j] = pair[device.Matrix]{here.New(shape[0], shape[1]), there.New(shape[0], shape[1])}
				fillBoth(pair[device.Backend]{here, there}, all[j], rng)
			}
			here.Gemm(transA, transB, alpha, all[0].here, all[1].here, beta, all[2].here)
			there.Gemm(transA, transB, alpha, all[0].there, all[1].there, beta, all[2].there)
			if !slices.Equal(host(here, all[2].here), host(there, all[2].there)) {
				t.Errorf("size %d %v, form %d: other bits than on the CPU", i, size, form)
			}
		}
	}
}

// TestWeightsAreTold0FromMinus0 checks that weights that are kept on the device are those given.
func TestWeightsAreTold0FromMinus0(t *testing.T) {
	b := open(t)
	zeros := []float32{0, float32(math.Copysign(0, -1)), 0}
	m := b.New(len(zeros), 1)
	b.Fill(m, 1)
	for i, w := range zeros {
		b.ScaleRows(m.RowRange(i, i+1), []float32{w})
	}
	for i, x := range host(b, m) {
		if math.Float32bits(x) != math.Float32bits(zeros[i]) {
			t.Errorf("1 times %v is %v", zeros[i], x)
		}
	}
}

// TestNumbersAmongPointers checks that a caller's numbers may be in an object with pointers.
func TestNumbersAmongPointers(t *testing.T) {
	b := open(t)
	type object struct {
		next    *object
		numbers [2]float32
		norm    [1]float64
	}
	o, m := &object{next: new(object), numbers: [2]float32{3, 4}}, b.New(1, 2)
	b.Upload(m, o.numbers[:])
	b.RowSquaredNorms(o.norm[:], m)
	b.Download(o.next.numbers[:], m)
	if o.norm[0] != 25 || o.next.numbers != o.numbers {
		t.Errorf("the norm of %v is %v", o.next.numbers, o.norm)
	}
}

// units returns the error in units in the last place. For NaN and infinities, the error is zero or
// infinite.
func units(got float32, want float64) float64 {
	if w := float32(want); got == w || got != got && w != w {
		return 0
	}
	if d := math.Abs(float64(got)-want) / max(math.Abs(want)*0x1p-23, 0x1p-149); d == d {
		return d
	}
	return math.Inf(1)
}

// TestForeignMatrices checks that methods panic if a matrix is in host memory or belongs to another
// backend.
func TestForeignMatrices(t *testing.T) {
	b := open(t)
	for name, m := range map[string]device.Matrix{"host": device.CPU().New(2, 2),
		"other": open(t).New(2, 2)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			b.Fill(m, 1)
		}()
	}
}

// TestConcurrentUse checks that several goroutines can use a device if they write to different
// matrices.
func TestConcurrentUse(t *testing.T) {
	b := open(t)
	shared := b.New(20, 30)
	b.Fill(shared, 2)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for range 20 {
				m, norms := b.New(20, 30), make([]float64, 20)
				b.Fill(m, float32(worker))
				b.Axpy(1, shared, m)
				b.RowSquaredNorms(norms, m)
				if want := 30 * float64((worker+2)*(worker+2)); norms[19] != want {
					t.Errorf("worker %d: %v, want %v", worker, norms[19], want)
				}
				if worker == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
}

// TestBackendIsForgotten checks that matrices can outlive their backend. Their memory must be
// released later.
func TestBackendIsForgotten(t *testing.T) {
	var kept []device.Matrix
	for range 3 {
		b := open(t)
		kept = append(kept, b.New(50, 60))
		b.New(70, 80)
	}
	for turn := range 6 {
		if turn == 3 {
			kept = nil
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	b := open(t) // the cleanups of the other backends must not affect this one
	m := b.New(3, 3)
	b.Fill(m, float32(len(kept)+1))
	if host(b, m)[8] != 1 {
		t.Error("a device does not work after others were garbage collected")
	}
}

// again runs one test of this binary in a new process and returns its output and exit status.
func again(t *testing.T, test string, env ...string) (string, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestProcessWithoutDevice checks that, without a device, a binary with the tag ends before main
// with a message.
func TestProcessWithoutDevice(t *testing.T) {
	out, status := again(t, "TestNothing", "FAKE_CUDA_DEVICES=0", "CUDA_VISIBLE_DEVICES=-1")
	if status != 1 || !strings.Contains(out, "Error in initialization") ||
		strings.Contains(out, "goroutine") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestProcessWithoutDriver checks that, without a driver, the dynamic loader ends the process.
func TestProcessWithoutDriver(t *testing.T) {
	if !strings.Contains(open(t).Name(), "fake") {
		t.Skip("an installed driver cannot be hidden")
	}
	out, status := again(t, "TestNothing", "LD_LIBRARY_PATH=")
	if status != 127 || !strings.Contains(out, "libcuda.so.1") {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestNothing(*testing.T) {}

// TestLittleMemory checks that unreferenced memory is reclaimed before a device counts as full.
func TestLittleMemory(t *testing.T) {
	if !strings.Contains(open(t).Name(), "fake") {
		t.Skip("only the memory of the fake device can be limited")
	}
	out, status := again(t, "TestGarbage", "FAKE_CUDA_BYTES=8000000")
	if status != 0 || !strings.Contains(out, "--- PASS: TestGarbage") {
		t.Errorf("status %d: %s", status, out)
	}
}

// TestGarbage first allocates far more memory than a small device has. Most of this memory becomes
// garbage at once. Then it makes one allocation that is larger than the device's memory.
func TestGarbage(t *testing.T) {
	if os.Getenv("FAKE_CUDA_BYTES") == "" {
		t.Skip("TestLittleMemory runs this test")
	}
	b := open(t)
	kept := b.New(100, 100)
	b.Fill(kept, 7)
	for i := range 200 {
		m := b.New(100, 300+i)
		b.Fill(m, 1)
	}
	for _, v := range host(b, kept) {
		if v != 7 {
			t.Fatalf("memory that is in use was reused: it holds %v, want 7", v)
		}
	}
	defer func() {
		var failure *cuda.Error
		if err, ok := recover().(error); !ok || !errors.As(err, &failure) || failure.Op != "memory" {
			t.Errorf("a full device panics with %v, want a *cuda.Error for memory", err)
		}
		b.Fill(kept, 1) // the device still works
	}()
	b.New(3000, 1000)
}
