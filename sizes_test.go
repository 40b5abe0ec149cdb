package privgen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var sizes = flag.Bool("sizes", false, "build small programs and log their sizes")

// programs are the programs of docs/performance.md, "Size of a program", with limits for Go 1.26 on
// linux/amd64: the measured size and two in a hundred more. A program that links the code for
// journals, for checkpoints or for reading JSON without need exceeds its limit.
var programs = []struct {
	does, source string
	limit        int64
}{
	{"nothing", "testdata/sizes/empty.go", 0},
	{"fmt.Println", "testdata/sizes/print.go", 0},
	{"imports accountant, uses nothing", "testdata/sizes/import_accountant.go", 1_640_000},
	{"calibrates a Gaussian and prints it", "testdata/sizes/calibrate.go", 2_260_000},
	{"spends on a ledger in memory", "testdata/sizes/ledger.go", 2_630_000},
	{"imports merf, uses nothing", "testdata/sizes/import_merf.go", 2_490_000},
	{"plans, fits and samples merf", "testdata/sizes/merf.go", 5_630_000},
	{"plans, fits and samples dpgm", "testdata/sizes/dpgm.go", 5_480_000},
	{"the README's shortest program", "./examples/quickstart", 5_800_000},
}

func TestProgramSizes(t *testing.T) {
	if !*sizes {
		t.Skip("builds programs: -sizes")
	}
	limited := strings.HasPrefix(runtime.Version(), "go1.26") && runtime.GOOS == "linux" &&
		runtime.GOARCH == "amd64"
	for i, p := range programs {
		out := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
			"-o", out, p.source)
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.source, err, text)
		}
		info, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d  %9d bytes  %s", i, info.Size(), p.does)
		if limited && p.limit > 0 && info.Size() > p.limit {
			t.Errorf("%s: %d bytes, at most %d wanted", p.source, info.Size(), p.limit)
		}
	}
}

// unlinked lists packages of the standard library that no program should link because it imports
// the accountant, a mechanism or a system. The templates call methods by name, so that the linker
// keeps every exported method of every package.
var unlinked = []string{"crypto/tls", "crypto/x509", "database/sql", "embed", "encoding/gob",
	"encoding/xml", "expvar", "flag", "go/ast", "go/parser", "go/types", "html/template", "image",
	"image/jpeg", "image/png", "net", "net/http", "os/exec", "os/signal", "plugin", "regexp",
	"runtime/pprof", "runtime/trace", "testing", "text/tabwriter", "text/template"}

// ofRecords are further packages that only packages with records and their files need.
var ofRecords = []string{"archive/zip", "bufio", "compress/flate", "compress/gzip", "encoding/csv",
	"path/filepath"}

// TestFewPackagesAreLinked checks everything that a program imports indirectly.
func TestFewPackagesAreLinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not there")
	}
	deps := dependencies(t, ".", "./accountant", "./mechanism", "./merf", "./report")
	linked := func(pkg string, lists ...[]string) (found []string) {
		t.Helper()
		all, ok := deps[strings.TrimSuffix(module+"/"+pkg, "/")]
		if !ok || !slices.Contains(all, "fmt") {
			t.Fatalf("go list says nothing about %q", pkg)
		}
		for _, p := range slices.Concat(lists...) {
			if slices.Contains(all, p) {
				found = append(found, p)
			}
		}
		return found
	}
	for pkg, found := range map[string][]string{
		"":           linked("", unlinked),
		"merf":       linked("merf", unlinked, []string{"gonum.org/v1/gonum/mat"}),
		"mechanism":  linked("mechanism", unlinked, ofRecords),
		"accountant": linked("accountant", unlinked, ofRecords, []string{"log", "log/slog"}),
	} {
		if len(found) > 0 {
			t.Errorf("package %q links %v", pkg, found)
		}
	}
	for _, p := range deps[module+"/accountant"] {
		if host, _, _ := strings.Cut(p, "/"); strings.Contains(host, ".") &&
			!strings.HasPrefix(p, module+"/") {
			t.Errorf("accountant links %s; want the standard library only", p)
		}
	}
	if !slices.Contains(linked("report", unlinked), "html/template") {
		t.Error("the templates of package report are not found: the test is broken")
	}
}

// dependencies returns everything that each package imports, directly or not.
func dependencies(t *testing.T, packages ...string) map[string][]string {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-json=ImportPath,Deps"}, packages...)...)
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out[p.ImportPath] = p.Deps
	}
}
