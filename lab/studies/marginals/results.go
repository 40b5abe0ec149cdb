package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// resultKey identifies a run.
type resultKey struct {
	table, system string
	epsilon       float64
	seed          uint64
}

// result holds the scores of a run.
type result struct {
	resultKey
	variation                                     [3]float64
	shapes, trends, queries, told                 float64
	roc, hard, weighted, macro, boosting, seconds float64
}

// resultNames lists the columns of a file of results. Smaller values of variation, queries and told
// are better. The column told is the area under the ROC curve of a forest that distinguishes
// synthetic from real rows.
var resultNames = [...]string{"table", "system", "epsilon", "seed", "variation_1", "variation_2",
	"variation_3", "queries", "told", "shapes", "trends", "roc", "roc_hard", "weighted_f1",
	"macro_f1", "roc_boosting", "processor_s"}

const firstMeasure = 4

func (r *result) measures() []*float64 {
	return []*float64{&r.variation[0], &r.variation[1], &r.variation[2], &r.queries, &r.told,
		&r.shapes, &r.trends, &r.roc, &r.hard, &r.weighted, &r.macro, &r.boosting, &r.seconds}
}

func (r result) fields() []string {
	list := []string{r.table, r.system, strconv.FormatFloat(r.epsilon, 'g', -1, 64),
		strconv.FormatUint(r.seed, 10)}
	for _, x := range r.measures() {
		list = append(list, strconv.FormatFloat(*x, 'f', 4, 64))
	}
	return list
}

// results holds the results of a file, in order.
type results []result

func (l results) has(key resultKey) bool {
	for _, r := range l {
		if r.resultKey == key {
			return true
		}
	}
	return false
}

// readResults reads a file of results. If the file does not exist, it returns no results.
func readResults(path string) (results, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var list results
	for _, line := range lines[1:] {
		r, err := parseResult(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, r)
	}
	return list, nil
}

func parseResult(line []string) (r result, err error) {
	if len(line) != len(resultNames) {
		return r, fmt.Errorf("got %d columns, want %d", len(line), len(resultNames))
	}
	r.table, r.system = line[0], line[1]
	if r.epsilon, err = strconv.ParseFloat(line[2], 64); err != nil {
		return r, err
	}
	if r.seed, err = strconv.ParseUint(line[3], 10, 64); err != nil {
		return r, err
	}
	for i, x := range r.measures() {
		if *x, err = strconv.ParseFloat(line[firstMeasure+i], 64); err != nil {
			return r, err
		}
	}
	return r, nil
}

// appendResult adds a line to a file of results, and creates the file if necessary.
func appendResult(path string, r result) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
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
		if err := w.Write(resultNames[:]); err != nil {
			return err
		}
	}
	if err := w.Write(r.fields()); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// summary prints a line for each table, ε and system: the number of runs, and the mean of each
// measure.
func (l results) summary(w io.Writer) error {
	type group struct {
		table, system string
		epsilon       float64
	}
	var order []group
	runs := make(map[group]results)
	for _, r := range l {
		g := group{r.table, r.system, r.epsilon}
		if runs[g] == nil {
			order = append(order, g)
		}
		runs[g] = append(runs[g], r)
	}
	fmt.Fprint(w, "| table | ε | system | runs |")
	for _, name := range resultNames[firstMeasure:] {
		fmt.Fprintf(w, " %s |", name)
	}
	fmt.Fprintln(w)
	for range len(resultNames) {
		fmt.Fprint(w, "|---")
	}
	fmt.Fprintln(w, "|")
	for _, g := range order {
		list := runs[g]
		fmt.Fprintf(w, "| %s | %g | %s | %d |", g.table, g.epsilon, g.system, len(list))
		for i := range list[0].measures() {
			sum := 0.0
			for _, r := range list {
				sum += *r.measures()[i] / float64(len(list))
			}
			fmt.Fprintf(w, " %.4f |", sum)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}
