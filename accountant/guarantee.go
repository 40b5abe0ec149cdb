package accountant

import (
	"fmt"
	"strings"
)

// Guarantee is what can be said to an auditor about everything a ledger has set aside. It prints itself, and survives JSON.
type Guarantee struct {
	Epsilon    float64          `json:"epsilon"` // published: the upper end
	Delta      float64          `json:"delta"`
	Relation   Relation         `json:"relation"`
	Unit       string           `json:"unit"` // whose presence or content is protected
	Bound      Bound            `json:"bound"`
	Budget     float64          `json:"budget_epsilon"`
	Accountant string           `json:"accountant"`
	Samplers   []string         `json:"samplers"`
	NoiseClass []NoiseClass     `json:"noise_class"`
	Entries    []GuaranteeEntry `json:"entries"`
	NotCovered []string         `json:"not_covered"`
	NotPrivate string           `json:"not_private,omitempty"` // not empty: there is no guarantee at all
}

// GuaranteeEntry is one line of the bill in words.
type GuaranteeEntry struct {
	Purpose    string       `json:"purpose"`
	Event      string       `json:"event"`
	Reserved   int          `json:"reserved"`
	Spent      int          `json:"spent"`
	NoiseClass []NoiseClass `json:"noise_class,omitempty"`
}

// Guarantee states what the ledger can promise.
func (l *Ledger) Guarantee() Guarantee {
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	r, _ := l.price()
	g := Guarantee{Epsilon: r.Upper, Delta: l.budget.Delta, Relation: l.budget.Relation, Unit: "record", Bound: r.Bound,
		Budget: l.budget.Epsilon, Accountant: r.engine, NotPrivate: l.shared.root.notPrivate}
	for _, en := range l.entries {
		g.Entries = append(g.Entries, GuaranteeEntry{en.purpose, fmt.Sprintf("%+v", en.event), en.reserved, en.spent, en.notes})
	}
	return g
}

// String is the guarantee as an auditor reads it.
func (g Guarantee) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ε=%g δ=%g %s", g.Epsilon, g.Delta, g.Relation.Meaning())
	return b.String()
}

// MarshalJSON and UnmarshalLedger come with the versioned format.
func (l *Ledger) MarshalJSON() ([]byte, error) { return nil, ErrUnsupported }
