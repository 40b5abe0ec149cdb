package ledger

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

// The files of pins hold what ledgers answered to random operations when the files were written.
// Whoever means to change an answer writes them anew and says why.
var updatePins = flag.Bool("update-pins", false, "write the files of pins")

// comparePins compares lines with those of a file. Numbers may differ in the seventh digit, because
// math.Exp rounds otherwise on a processor without FMA.
func comparePins(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updatePins {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round prices otherwise")
	}
	want := strings.Split(strings.TrimSuffix(string(must[[]byte](t)(os.ReadFile(file))), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, want the %d of %s", len(got), len(want), file)
	}
	wrong := 0
	for i := range min(len(got), len(want)) {
		if samePin(got[i], want[i]) {
			continue
		}
		if wrong++; wrong > 5 {
			t.Fatal("and more lines")
		}
		t.Errorf("%s:%d:\n got %s\nwant %s", file, i+1, got[i], want[i])
	}
}

func samePin(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		v, errV := strconv.ParseFloat(x[i], 64)
		w, errW := strconv.ParseFloat(y[i], 64)
		if x[i] != y[i] && (errV != nil || errW != nil || !(math.Abs(v-w) <= 1e-6*math.Abs(w))) {
			return false
		}
	}
	return true
}

// masked takes out what is drawn at random, the names of journals, and the last digits of prices.
func masked(text string) string {
	return drawnNames.ReplaceAllString(lastDigits.ReplaceAllString(text, "$1"), "drawn")
}

var drawnNames, lastDigits = regexp.MustCompile(`[0-9a-f]{16,}`), regexp.MustCompile(`(\.\d{8})\d+`)

func digestOf(text string) string {
	return fmt.Sprintf("#%.4x", sha256.Sum256([]byte(masked(text))))
}
