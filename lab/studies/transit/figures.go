package main

import (
	"fmt"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// figures draws the errors by the length of the queries, as Fig. 5 does, and by ε, as Fig. 6 does.
func figures(c config, results []result) error {
	byLength, byEpsilon := map[string]plotter.XYs{}, map[string]plotter.XYs{}
	var lengths, methods []string
	for _, r := range results {
		name := fmt.Sprintf("%s, ε = %g", r.method, r.epsilon)
		lengths = append(lengths, name)
		for i := range r.runs[0].Classes {
			byLength[name] = append(byLength[name],
				plotter.XY{X: 100 * float64(i+1) / float64(len(r.runs[0].Classes)), Y: r.classError(i)})
		}
		if byEpsilon[r.method] == nil {
			methods = append(methods, r.method)
		}
		mean, _ := r.meanAny()
		byEpsilon[r.method] = append(byEpsilon[r.method], plotter.XY{X: r.epsilon, Y: mean})
	}
	if err := draw(filepath.Join(c.out, "errors-by-length.png"),
		"length of the queries, % of the longest record", lengths, byLength); err != nil {
		return err
	}
	return draw(filepath.Join(c.out, "errors-by-epsilon.png"), "ε", methods, byEpsilon)
}

// draw saves lines on a logarithmic scale, since methods differ by factors.
func draw(path, x string, names []string, lines map[string]plotter.XYs) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "Counting queries, any of the items [not private]",
		x, "mean relative error"
	p.Title.Padding = vg.Points(8)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Add(plotter.NewGrid())
	for i, name := range names {
		points := lines[name]
		for k := range points {
			points[k].Y = max(points[k].Y, 1e-6) // positive, for the logarithmic scale
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, dots.Color, line.Dashes, line.Width = plotutil.Color(i), plotutil.Color(i),
			plotutil.Dashes(i/7), vg.Points(1.5)
		p.Add(line, dots)
		p.Legend.Add(name, line, dots)
	}
	p.Legend.Top = true
	p.Y.Max *= 4 // room for the legend
	if err := p.Save(9*vg.Inch, 6*vg.Inch, path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
