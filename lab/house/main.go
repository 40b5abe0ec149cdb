// Command house measures how large the library is, and fails if it has outgrown its limits.
//
//	go -C lab run ./house              the numbers and their limits
//	go -C lab run ./house -packages    also the lines of every package
//
// It counts the root module: lines of code (without comments, blank lines, generated files and
// tests), public packages, exported names and methods, imports between packages, entries of the top
// folder and Go files of the root package. Raise a limit only together with what earns the growth.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// limits are the largest numbers that may be committed. The lines are 70,000, 500 more for several
// tables whose rows belong to each other, 2,000 more for batches by allocation, correlated noise,
// and ledgers of 10,000 different events, 500 more for prices of small δ, of shuffled batches and
// of groups, and for brackets where there was one end, 1,000 more for numbers to be predicted that
// are drawn given the whole row, 200 more for portable kernels that give the bits of the vector
// kernels, 800 more for whole private steps on a device, 250 more for records that stay on a
// device, for ends of columns that are fitted, for bounds on what small files may cost, and for a
// suite that compares interrupted runs with whole ones, 150 more for runs that are held to their
// bits and for trends with a weight for each of few values, 115 more for fits of models of tables
// with passes that take an eighth of the time, and 119 more for copies by value, for fits
// that diverge, for draws that end between two tries, and for rows of children with one pass, and
// 111 more for AIM in seven eighths and MERF of many columns in half of their time, checks that
// allocate no networks, records that are counted before a reservation, and other mends.
var limits = []struct {
	name  string
	most  int
	count func(house) int
}{
	{"lines of code", 75_730, func(h house) int { return h.lines }},
	{"public packages", 28, func(h house) int { return len(h.public) }},
	{"exported names and methods", 1_500, func(h house) int { return h.names }},
	{"imports between packages", 170, func(h house) int { return h.edges }},
	{"entries of the top folder", 50, func(h house) int { return h.entries }},
	{"Go files of the root package", 12, func(h house) int { return h.rootFiles }},
}

func main() {
	packages := flag.Bool("packages", false, "print the lines of every package")
	flag.Parse()
	root, err := moduleRoot()
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	h, err := measure()
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	if *packages {
		h.print()
	}
	outgrown := false
	for _, l := range limits {
		n, mark := l.count(h), ""
		if n > l.most {
			outgrown, mark = true, "  outgrown"
		}
		fmt.Printf("%-30s %6d of %6d%s\n", l.name, n, l.most, mark)
	}
	if outgrown {
		os.Exit(1)
	}
}

func (h house) print() {
	byLines := slices.SortedFunc(maps.Keys(h.perPackage), func(a, b string) int {
		return h.perPackage[b] - h.perPackage[a]
	})
	for _, pkg := range byLines {
		fmt.Printf("%6d  %s\n", h.perPackage[pkg], filepath.ToSlash(filepath.Join(".", pkg)))
	}
}
