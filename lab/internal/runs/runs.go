// Package runs keeps the measures of runs of systems in a CSV file, so that a study that stops goes
// on where it was.
package runs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
)

// Key identifies a run.
type Key struct {
	Table, System string
	Epsilon       float64
	Seed          uint64
}

// Run is a run with its measures. A measure that was not taken is NaN.
type Run struct {
	Key
	Measures []float64
}

// Fields returns the cells of the run's line.
func (r Run) Fields() []string {
	list := []string{r.Table, r.System, strconv.FormatFloat(r.Epsilon, 'g', -1, 64),
		strconv.FormatUint(r.Seed, 10)}
	for _, x := range r.Measures {
		cell := ""
		if !math.IsNaN(x) {
			cell = strconv.FormatFloat(x, 'f', 4, 64)
		}
		list = append(list, cell)
	}
	return list
}

// File holds the runs of a file, in order.
type File struct {
	Names []string // of the columns
	Runs  []Run
	path  string
}

// Open reads a file of runs with the named measures. A file that does not exist has no runs, and an
// empty path keeps runs in memory.
func Open(path string, measures []string) (*File, error) {
	f := &File{append([]string{"table", "system", "epsilon", "seed"}, measures...), nil, path}
	if path == "" {
		return f, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		return f, err
	}
	if !slices.Equal(lines[0], f.Names) {
		return nil, fmt.Errorf("%s: has the columns %v, want %v", path, lines[0], f.Names)
	}
	for _, line := range lines[1:] {
		r, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		f.Runs = append(f.Runs, r)
	}
	return f, nil
}

func parse(line []string) (r Run, err error) {
	r.Table, r.System = line[0], line[1]
	if r.Epsilon, err = strconv.ParseFloat(line[2], 64); err != nil {
		return r, err
	}
	if r.Seed, err = strconv.ParseUint(line[3], 10, 64); err != nil {
		return r, err
	}
	for _, cell := range line[4:] {
		x := math.NaN()
		if cell != "" {
			if x, err = strconv.ParseFloat(cell, 64); err != nil {
				return r, err
			}
		}
		r.Measures = append(r.Measures, x)
	}
	return r, nil
}

// Has reports whether the file has a run.
func (f *File) Has(key Key) bool {
	return slices.ContainsFunc(f.Runs, func(r Run) bool { return r.Key == key })
}

// Add appends a run, and creates the file if necessary.
func (f *File) Add(r Run) (err error) {
	f.Runs = append(f.Runs, r)
	if f.path == "" {
		return nil
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w := csv.NewWriter(file)
	if info.Size() == 0 {
		if err := w.Write(f.Names); err != nil {
			return err
		}
	}
	if err := w.Write(r.Fields()); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// Group holds the runs that differ in their seeds only; the key has seed 0.
type Group struct {
	Key
	Runs []Run
}

// Groups returns all groups, in the order of their first runs.
func (f *File) Groups() (list []Group) {
	at := map[Key]int{}
	for _, r := range f.Runs {
		key := r.Key
		key.Seed = 0
		if _, ok := at[key]; !ok {
			at[key] = len(list)
			list = append(list, Group{Key: key})
		}
		g := &list[at[key]]
		g.Runs = append(g.Runs, r)
	}
	return list
}

// Mean returns the mean of a measure, and its standard deviation between runs. Runs without the
// measure are left out; n is the number of the others.
func (g Group) Mean(measure int) (mean, spread float64, n int) {
	var all []float64
	for _, r := range g.Runs {
		if x := r.Measures[measure]; !math.IsNaN(x) {
			all = append(all, x)
			mean += x
		}
	}
	mean /= float64(len(all)) // NaN without any
	for _, x := range all {
		spread += (x - mean) * (x - mean) / float64(max(len(all)-1, 1))
	}
	return mean, math.Sqrt(spread), len(all)
}
