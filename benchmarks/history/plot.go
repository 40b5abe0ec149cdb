package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plot describes one picture of results. File plots.json of a folder has a list of them.
type plot struct {
	File string `json:"file"` // name of the picture, without .svg
	// Kind is dots (one line for each row, with a dot for each series), sorted (the numbers of each
	// series in ascending order) or scatter.
	Kind        string   `json:"kind"`
	Title       string   `json:"title"`
	Note        string   `json:"note"` // below the title: machine and date
	Description string   `json:"description"`
	X           axis     `json:"x"`
	Y           axis     `json:"y"`
	Series      []series `json:"series"`
}

// axis describes a direction of a plot.
type axis struct {
	Label string    `json:"label"`
	Unit  string    `json:"unit"` // of the results
	Log   bool      `json:"log,omitempty"`
	From  float64   `json:"from"`
	To    float64   `json:"to"`
	Ticks []float64 `json:"ticks"`
	Lines []line    `json:"lines,omitempty"`
}

// line is a reference line.
type line struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// series names results of one run, in one colour and form.
type series struct {
	Name   string  `json:"name"`
	Run    string  `json:"run"` // a file in the folder runs
	Points []point `json:"points,omitempty"`
	Prefix string  `json:"prefix,omitempty"` // for sorted: all results with this prefix
	Unit   string  `json:"unit,omitempty"`   // of the results, if it is not the axis's unit
	// set by resolve
	marks []mark
}

// point names one result.
type point struct {
	Label  string `json:"label"`           // the row, or the text beside a point of a scatter
	Place  string `json:"place,omitempty"` // of the text: right (the default), left, above or below
	Result string `json:"result"`
}

// mark is a point with its numbers: the median of repetitions, the lowest and the highest.
type mark struct {
	label, place string
	x, y         float64
	lowest, high float64 // in the direction of the results of dots
}

// drawAll draws the pictures of a folder and returns them by the names of their files.
func drawAll(dir string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "plots.json"))
	if err != nil {
		return nil, err
	}
	var plots []plot
	if err := json.Unmarshal(text, &plots); err != nil {
		return nil, fmt.Errorf("plots.json: %w", err)
	}
	out := map[string][]byte{}
	for _, p := range plots {
		if err := p.resolve(filepath.Join(dir, "runs")); err != nil {
			return nil, fmt.Errorf("plot %s: %w", p.File, err)
		}
		out[p.File+".svg"] = p.draw()
	}
	return out, nil
}

// plotAll writes the pictures of a folder.
func plotAll(dir string) error {
	pictures, err := drawAll(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(pictures)) {
		if err := os.WriteFile(filepath.Join(dir, name), pictures[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// resolve reads the numbers of a plot from runs.
func (p *plot) resolve(runs string) error {
	if !slices.Contains([]string{"dots", "sorted", "scatter"}, p.Kind) {
		return fmt.Errorf("kind %q: want dots, sorted or scatter", p.Kind)
	}
	if p.File == "" || p.Title == "" || p.Description == "" || len(p.Series) == 0 {
		return errors.New("want file, title, description and series")
	}
	if len(p.Series) > colours {
		return fmt.Errorf("%d series: want at most %d", len(p.Series), colours)
	}
	for i := range p.Series {
		s := &p.Series[i]
		r, err := load(filepath.Join(runs, s.Run))
		if err != nil {
			return err
		}
		if s.Prefix != "" {
			s.Points = prefixed(r, s.Prefix)
		}
		if len(s.Points) == 0 {
			return fmt.Errorf("series %q has no points", s.Name)
		}
		for _, at := range s.Points {
			m, err := p.mark(r, at, s.Unit)
			if err != nil {
				return fmt.Errorf("%s: %w", s.Run, err)
			}
			s.marks = append(s.marks, m)
		}
	}
	return nil
}

// prefixed returns the results of a run whose names start with a prefix.
func prefixed(r record, prefix string) (list []point) {
	for _, name := range slices.Sorted(maps.Keys(r.Results)) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, point{Result: name})
		}
	}
	return list
}

// mark returns the numbers of a result. The direction of dots is x, and that of sorted is y.
func (p *plot) mark(r record, at point, unit string) (mark, error) {
	m := mark{label: at.Label, place: at.Place}
	read := func(a axis, to *float64) error {
		unit := cmp.Or(unit, a.Unit)
		list := r.Results[at.Result][unit]
		if len(list) == 0 {
			return fmt.Errorf("no result %q in %q", at.Result, unit)
		}
		*to, m.lowest, m.high = median(list), slices.Min(list), slices.Max(list)
		if m.lowest < a.From || m.high > a.To {
			return fmt.Errorf("result %q is outside of the axis from %g to %g", at.Result, a.From, a.To)
		}
		return nil
	}
	if p.Kind != "dots" {
		if err := read(p.Y, &m.y); err != nil {
			return m, err
		}
	}
	if p.Kind != "sorted" {
		return m, read(p.X, &m.x)
	}
	return m, nil
}
