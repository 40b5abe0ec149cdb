package accountant

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The files of pins hold what the package answered to random questions when they were written. That
// code had been checked against exact enumeration, simulation and other libraries: see
// docs/testing.md. Whoever means to change an answer writes the files anew and says why.
var updatePins = flag.Bool("update-pins", false, "write the files of pins")

// arithmetic is a digest of how this processor, with this version of Go, rounds what prices are
// computed from.
func arithmetic() string {
	h := sha256.New()
	for x := 1e-6; x < 30; x *= 1.003 {
		s, c := math.Sincos(x)
		l, _ := math.Lgamma(x)
		fmt.Fprintln(h, math.Exp(x), math.Exp(-x), math.Expm1(-x), math.Log(x), math.Log1p(x), s, c, l,
			math.Erf(x), math.Erfc(x), math.Tanh(x), math.Asinh(x), math.Atan2(s, x), math.Hypot(x, 1),
			math.Pow(x, 1.7), math.Exp2(x), x*s+c, x*x-l)
	}
	return fmt.Sprintf("arithmetic %.8x", h.Sum(nil))
}

// pin writes numbers with nine digits, and a digest of all of their digits.
func pin(numbers ...float64) string {
	var b strings.Builder
	for _, x := range numbers {
		fmt.Fprintf(&b, "%.9g ", x)
	}
	return fmt.Sprintf("%s#%.2x", b.String(), sha256.Sum256(fmt.Appendf(nil, "%b", numbers)))
}

// nearPin reports whether two lines have the same words, and numbers that other rounding explains:
// a δ of 1e-60 is the difference of far larger numbers.
func nearPin(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		v, errV := strconv.ParseFloat(x[i], 64)
		w, errW := strconv.ParseFloat(y[i], 64)
		near := errV == nil && errW == nil && math.Abs(v-w) <= 1e-3*math.Abs(w)+1e-9
		if x[i] != y[i] && !near && !strings.HasPrefix(x[i], "#") {
			return false
		}
	}
	return true
}

// comparePins compares lines with those of a file: all digits if this machine rounds as the one
// that wrote it did, and three digits if not. Lines that begin with a space belong to the one
// before.
func comparePins(t *testing.T, name string, got []string) {
	t.Helper()
	if strconv.IntSize < 64 {
		t.Skip("the counts of some events are no int")
	}
	got = append([]string{arithmetic()}, got...)
	file := filepath.Join("testdata", name)
	if *updatePins {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(strings.TrimSuffix(string(must[[]byte](t)(os.ReadFile(file))), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, want the %d of %s", len(got), len(want), file)
	}
	wrong, of, same := 0, "", got[0] == want[0]
	for i := 1; i < min(len(got), len(want)); i++ {
		if !strings.HasPrefix(got[i], " ") {
			of = got[i]
		}
		if got[i] == want[i] || !same && nearPin(got[i], want[i]) {
			continue
		}
		if wrong++; wrong > 3 {
			t.Fatal("and more lines")
		}
		t.Errorf("%s:%d: of %s\n got %s\nwant %s", file, i+1, of, got[i], want[i])
	}
}
