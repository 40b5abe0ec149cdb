package main

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// save draws curves into a PNG file and prints its path.
func save(path, title, x, y string, curves []curve) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(8)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Add(plotter.NewGrid())
	for _, c := range curves {
		if err := draw(p, c); err != nil {
			return err
		}
	}
	p.Y.Max *= 1.35 // room for the legend
	if err := p.Save(9*vg.Inch, 6*vg.Inch, path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}

func draw(p *plot.Plot, c curve) error {
	line, err := plotter.NewLine(c.points)
	if err != nil {
		return err
	}
	line.Color, line.Dashes, line.Width = plotutil.Color(c.colour), plotutil.Dashes(c.dashes),
		vg.Points(1.5)
	p.Add(line)
	p.Legend.Add(c.label, line)
	if c.spread == nil {
		return nil
	}
	bars, err := plotter.NewYErrorBars(c)
	if err != nil {
		return err
	}
	bars.Color = line.Color
	p.Add(bars)
	return nil
}

// Len, XY and YError implement the plotter's interfaces for points with error bars.
func (c curve) Len() int                      { return len(c.points) }
func (c curve) XY(i int) (x, y float64)       { return c.points[i].X, c.points[i].Y }
func (c curve) YError(i int) (lo, hi float64) { return c.spread[i], c.spread[i] }
