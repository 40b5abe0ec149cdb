package accountant

import (
	"fmt"
	"strings"
)

// largeEpsilon is the largest ε without a caution; e^10 is above 22,000.
const largeEpsilon = 10

// Caution describes what a large ε or δ does not protect. The number of records is public; 0 means
// that it is unknown. Caution returns "" for an ε up to 10 and a δ below 1 ÷ records.
func (b Budget) Caution(records int) string {
	var out []string
	if b.Epsilon > largeEpsilon {
		out = append(out, "guesses about single records: at an ε above 10, results may multiply the odds "+
			"of such a guess by e^ε, which is more than 22,000")
	}
	if records > 0 && b.Delta*float64(records) >= 1 {
		out = append(out, fmt.Sprintf("single records: δ is not below 1 ÷ %d records, and a method that "+
			"publishes a random record in full can satisfy such a guarantee", records))
	}
	return strings.Join(out, "; ")
}
