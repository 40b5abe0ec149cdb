package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// record holds the results of one run.
type record struct {
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit"`
	Command string    `json:"command,omitempty"` // the command that measured
	Note    string    `json:"note,omitempty"`    // circumstances
	Machine machine   `json:"machine"`
	// Results has the number of each repetition, by the package and name of the benchmark, then by
	// unit.
	Results map[string]map[string][]float64 `json:"results"`
}

type machine struct {
	CPU   string `json:"cpu"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
}

// complete fills in what the results do not state about the machine.
func (m *machine) complete() {
	m.Cores, m.Go = runtime.NumCPU(), runtime.Version()
	m.OS, m.Arch = cmp.Or(m.OS, runtime.GOOS), cmp.Or(m.Arch, runtime.GOARCH)
	if m.CPU != "" {
		return
	}
	text, _ := os.ReadFile("/proc/cpuinfo") // a machine without it has no name
	for line := range strings.Lines(string(text)) {
		if what, value, _ := strings.Cut(line, ":"); strings.TrimSpace(what) == "model name" {
			m.CPU = strings.TrimSpace(value)
			return
		}
	}
}

// parse reads the output of go test, of any number of packages.
func parse(lines *bufio.Scanner) (record, error) {
	r, pkg := record{Results: map[string]map[string][]float64{}}, ""
	for lines.Scan() {
		line := lines.Text()
		if what, value, ok := strings.Cut(line, ": "); ok {
			switch value = strings.TrimSpace(value); what {
			case "goos":
				r.Machine.OS = value
			case "goarch":
				r.Machine.Arch = value
			case "cpu":
				r.Machine.CPU = value
			case "pkg":
				pkg = value
			}
		}
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") || len(fields) < 4 || len(fields)%2 != 0 {
			continue
		}
		name := pkg + "." + fields[0]
		for i := 2; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return r, fmt.Errorf("%s: %q is not a number", fields[0], fields[i])
			}
			if r.Results[name] == nil {
				r.Results[name] = map[string][]float64{}
			}
			r.Results[name][fields[i+1]] = append(r.Results[name][fields[i+1]], v)
		}
	}
	return r, lines.Err()
}

// worsens reports whether larger numbers are worse, as for all units except rates.
func worsens(unit string) bool { return !strings.HasSuffix(unit, "/s") }

// isRatio reports whether numbers of a unit can be compared between machines.
func isRatio(unit string) bool { return strings.Contains(unit, "ratio") }

// report prints the benchmarks that became slower; slower is true if there are any. A benchmark
// counts if its median worsened by more than the fraction by, and every repetition after is worse
// than every repetition before.
func report(out io.Writer, before, after record, by float64) (slower bool) {
	same := before.Machine == after.Machine
	fmt.Fprintf(out, "%s (%s) → %s (%s)\n", before.Commit, before.Machine.CPU, after.Commit,
		after.Machine.CPU)
	if !same {
		fmt.Fprintln(out, "machines or versions of Go differ: only ratios are compared")
	}
	compared := 0
	for _, name := range slices.Sorted(maps.Keys(after.Results)) {
		for _, unit := range slices.Sorted(maps.Keys(after.Results[name])) {
			old, now := before.Results[name][unit], after.Results[name][unit]
			if len(old) == 0 || !same && !isRatio(unit) {
				continue
			}
			compared++
			if worse(old, now, worsens(unit), by) {
				slower = true
				fmt.Fprintf(out, "slower: %s: %.4g → %.4g %s\n", name, median(old), median(now), unit)
			}
		}
	}
	fmt.Fprintf(out, "%d numbers compared\n", compared)
	return slower
}

func worse(old, now []float64, worsens bool, by float64) bool {
	if !worsens {
		old, now = now, old
	}
	return median(now) > median(old)*(1+by) && slices.Min(now) > slices.Max(old)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
