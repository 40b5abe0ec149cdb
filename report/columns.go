package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed7ba64551/privgen/report/tabular"
)

// The largest numbers of levels and of columns that have a figure.
const (
	mostLevels  = 16
	mostColumns = 200
)

// columns compares the real and the synthetic distribution of each column.
func (m *maker) columns(context.Context) error {
	if !m.tabular() {
		return nil
	}
	fake := m.fake.Histograms(m.set.Bins)
	real := fake
	if m.real != nil {
		real = m.real.Histograms(m.set.Bins)
	}
	if len(fake) > mostColumns {
		m.out.Sizes.Sampling = append(m.out.Sizes.Sampling, "Only the first 200 columns are drawn.")
		fake, real = fake[:mostColumns], real[:mostColumns]
	}
	for j := range fake {
		m.out.Columns = append(m.out.Columns, beside(real[j], fake[j], m.real != nil))
	}
	return nil
}

// beside puts the real and the synthetic histogram of one column next to each other.
func beside(real, fake tabular.Histogram, known bool) Column {
	c := Column{Name: fake.Column, Kind: fake.Kind, Number: fake.Number}
	at := func(part float64) Number {
		if known {
			return Number(part)
		}
		return none
	}
	for i, s := range fake.Shares {
		c.Bars = append(c.Bars, Bar{s.Level, Number(s.From), Number(s.To), at(real.Shares[i].Part),
			Number(s.Part)})
	}
	if fake.HasMissing {
		c.Missing = &Bar{"missing", none, none, at(real.Missing), Number(fake.Missing)}
	}
	if !c.Number && len(c.Bars) > mostLevels {
		c.Bars, c.More = mostFrequent(c.Bars, mostLevels, known)
	}
	return c
}

// mostFrequent keeps the most frequent bars and combines the others into one bar at the end.
func mostFrequent(bars []Bar, most int, byReal bool) ([]Bar, int) {
	size := func(b Bar) Number {
		if byReal {
			return b.Real
		}
		return b.Synthetic
	}
	bars = slices.Clone(bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(size(b), size(a)) })
	rest := Bar{Label: "other levels", From: none, To: none}
	if !byReal {
		rest.Real = none
	}
	more := len(bars) - most
	for _, b := range bars[most:] {
		rest.Real += b.Real
		rest.Synthetic += b.Synthetic
	}
	return append(bars[:most:most], rest), more
}
