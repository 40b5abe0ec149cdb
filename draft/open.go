package draft

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// PurposeLevels is the purpose on the ledger of the release of texts of columns with open levels.
const PurposeLevels = "schema draft: open levels"

// open returns the columns whose levels are open; see records.Hashed.
func open(s records.Schema) (columns []int) {
	for j, c := range s.Columns() {
		if c.Kind() == records.HashedColumn && c.Other() != "" {
			columns = append(columns, j)
		}
	}
	return columns
}

// alone is the part of δ with which the texts of a single record or person may be released.
const alone = 0.1

// parts returns the release of counts and the release of texts for a noise multiplier of both
// together; nil for a release that the candidates do not need. If they need both, each has half of
// the squared effect.
func (c Config) parts(noise float64) (counts, texts accountant.Event) {
	columns := open(c.Candidates)
	some := len(estimated(c.Candidates)) > 0
	if some && len(columns) > 0 {
		noise *= math.Sqrt2 * (1 + 0x1p-40)
	}
	if some {
		counts = accountant.Gaussian{NoiseMultiplier: noise}
	}
	if len(columns) > 0 {
		e := accountant.SparseHistogram{Cells: len(columns),
			Sigma: noise * sensitivity(c.Budget.Relation, len(columns))}
		e.Threshold = 1 + e.Sigma*math.Sqrt2*param.Erfcinv(2*alone*c.Budget.Delta/float64(e.Cells))
		texts = e
	}
	return counts, texts
}

// event returns both releases as one event.
func (c Config) event(noise float64) accountant.Event {
	switch counts, texts := c.parts(noise); {
	case texts == nil:
		return counts
	case counts == nil:
		return texts
	default:
		return accountant.Composed{Events: []accountant.Event{counts, texts}}
	}
}

// reserve reserves both releases in one transaction. The grants of releases that the plan does not
// have are nil.
func (p *Plan) reserve(ctx context.Context, l *ledger.Ledger) (counts, texts *mechanism.Grant,
	err error) {
	first, second := p.Config.parts(p.Config.NoiseMultiplier)
	var t ledger.Transaction
	for purpose, e := range map[string]accountant.Event{Purpose: first, PurposeLevels: second} {
		if e != nil {
			t.Lines = append(t.Lines, ledger.Line{Purpose: purpose, Event: e, Count: 1})
		}
	}
	slices.SortFunc(t.Lines, func(a, b ledger.Line) int { return cmp.Compare(a.Purpose, b.Purpose) })
	allowances, err := mechanism.ReserveAll(ctx, l, t)
	if err != nil {
		return nil, nil, err
	}
	for i, line := range t.Lines {
		grant, err := allowances[i].Next()
		if err != nil {
			return nil, nil, err
		}
		if line.Purpose == Purpose {
			counts = grant
		} else {
			texts = grant
		}
	}
	return counts, texts, nil
}

// addTexts counts the texts of columns with open levels.
func (c *counter) addTexts(data records.Data) error {
	if len(c.texts) == 0 {
		return nil
	}
	counts, err := records.OpenTexts(data)
	for k, of := range counts {
		for text, n := range of {
			c.texts[k][text] += n
		}
	}
	return err
}

// opened replaces the columns with open levels by columns of the levels found: of each column those
// with the largest noisy counts, at most as many as it has buckets besides that of the other level.
func (d *Draft) opened(columns []records.Column, places []int, noisy []map[string]float64) {
	for k, j := range places {
		c, of := columns[j], noisy[k]
		levels := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
		})
		levels = levels[:min(len(levels), len(c.Levels())-1)]
		slices.Sort(levels)
		found := Column{Name: c.Name()}
		for _, text := range levels {
			found.Cells = append(found.Cells, Cell{Kind: level, Level: text, Count: of[text], Kept: true})
		}
		d.Columns = append(d.Columns, found)
		columns[j] = records.Categorical(c.Name(), append(levels, c.Other())...).WithOther(c.Other())
		if c.HasMissing() {
			columns[j] = columns[j].WithMissing()
		}
	}
}
