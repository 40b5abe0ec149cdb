package accountant

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// selections are the events of docs/reference/selection.md, with ordinary numbers.
var selections = map[string]Event{
	"Gaussian":                   Gaussian{20},
	"PoissonSampled":             Repeated{PoissonSampled{0.01, Gaussian{0.9}}, 1000},
	"SampledSum":                 Repeated{SampledSum{0.01, 0.9}, 1000},
	"SampledSum, rare":           Repeated{SampledSum{1e-5, 0.7}, 100000},
	"TruncatedPoisson":           Repeated{TruncatedPoisson{0.01, 10000, 160, 0.9}, 1000},
	"TruncatedPoisson, tight":    Repeated{TruncatedPoisson{0.01, 10000, 101, 0.9}, 1000},
	"SampledWithoutReplacement":  Repeated{SampledWithoutReplacement{10000, 100, Gaussian{0.9}}, 1000},
	"RandomAllocation":           Repeated{RandomAllocation{100, 0.9, 0, false}, 10},
	"RandomAllocation, several":  Repeated{RandomAllocation{100, 0.9, 5, false}, 10},
	"RandomAllocation, shuffled": Repeated{RandomAllocation{100, 0.9, 0, true}, 10},
	"BandedSum":                  Repeated{BandedSum{0.08, 1.5, []float64{1, 0.5, 0.25, 0.25}}, 250},
	"BandedSum, every round":     Repeated{BandedSum{1, 20, []float64{1, 0.5, 0.25, 0.25}}, 250},
}

// TestSelectionPage: the page says of each way to select batches how tightly it is priced.
func TestSelectionPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/selection.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range selections {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(name) + "` \\|.*$").Find(page)
		cells := strings.Split(string(row), "|")
		if len(cells) != 7 {
			t.Errorf("%s: the page has the row %q, want one with 5 cells", name, row)
			continue
		}
		for i, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			if got, want := quality(e, r), strings.TrimSpace(cells[4+i]); got != want {
				t.Errorf("%s under %v is %q, the page says %q", name, r, got, want)
			}
		}
	}
}

// quality says how tight a price is.
func quality(e Event, r Relation) string {
	b, err := Epsilon(e, 1e-5, r)
	switch {
	case errors.Is(err, ErrUnsupported):
		return "refused"
	case err != nil:
		return fmt.Sprint(err)
	case b.Upper <= 1.01*b.Lower:
		return "tight"
	case b.Lower > 0:
		return "bound"
	}
	return "no lower end"
}
