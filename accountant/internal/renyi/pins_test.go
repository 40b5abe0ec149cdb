package renyi

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// The file of pins holds divergences and conversions as they were when it was written. Whoever
// means to change one writes it anew and says why.
var updatePins = flag.Bool("update-pins", false, "write testdata/pins.txt")

// TestPinsOfDivergences: divergences over the range of their arguments, and what they mean.
func TestPinsOfDivergences(t *testing.T) {
	h := sha256.New()
	for x := 1e-6; x < 30; x *= 1.01 {
		l, _ := math.Lgamma(x)
		fmt.Fprintln(h, math.Exp(-x), math.Expm1(x), math.Log(x), math.Log1p(x), l, math.Erfc(x), x*x-l)
	}
	lines := []string{fmt.Sprintf("arithmetic %.8x", h.Sum(nil))}
	orders := []float64{1 + 1e-6, 1.01, 1.5, 2, 2.7, 3, 9, 9.5, 64, 511, 512.5, 5000}
	for _, q := range []float64{1e-60, 1e-9, 1e-3, 0.05, 0.5, 0.97, 1 - 1e-13, 1} {
		for _, mu := range []float64{1e-8, 1e-3, 0.1, 0.7, 2, 9, 60, 1e5} {
			line := fmt.Sprint(q, " ", mu, ":")
			for _, a := range orders {
				v := SampledGaussian(q, mu, a)
				line += fmt.Sprintf(" %v %v %v", v, Glued(q, mu, a), LogMomentGap(q, mu, a))
				for _, delta := range []float64{1e-30, 1e-5, 0.4} {
					line += fmt.Sprintf(" %v %v", Epsilon(a, v, delta), Delta(a, v, mu*q))
				}
			}
			sum := sha256.Sum256([]byte(line))
			lines = append(lines, fmt.Sprintf("%.150s #%.4x", line, sum))
		}
	}
	for _, eps := range []float64{0, 1e-12, 1e-3, 0.3, 1, 8, 50, 700} {
		line := fmt.Sprint(eps, ":")
		for _, a := range orders {
			line += fmt.Sprintf(" %v", BoundedRange(eps, a))
		}
		for _, s := range []float64{math.Inf(-1), -700, -30, 0, 5, 800, math.Inf(1), math.NaN()} {
			line += fmt.Sprintf(" %v %v %v", FromMomentMinusOne(s, 1+eps, 1e-13), LogExpm1(s),
				AtMost(eps, s))
			var sum LogSum
			sum.Add(s)
			sum.Add(eps)
			sum.Add(-eps)
			line += fmt.Sprintf(" %v", sum.Value())
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprint(Orders()))
	text := strings.Join(lines, "\n") + "\n"
	const file = "testdata/pins.txt"
	if *updatePins {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(old), "\n")
	if lines[0] != want[0] {
		t.Skip("numbers are rounded otherwise here")
	}
	for i, line := range strings.Split(text, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: got\n%s\nwant the line there", file, i+1, line)
		}
	}
}
