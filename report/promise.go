package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// promise writes the section about the guarantee.
func (m *maker) promise() {
	g := m.guarantee
	m.out.Promise = Promise{Attack: none, Auditor: g}
	if g == nil {
		m.out.Promise.Words = []string{"No guarantee was given to this report, so it states none."}
		return
	}
	if covers(g) {
		a, err := accountant.AttackBounds(approximate(*g), max(g.Delta, accountant.MinDelta), g.Relation)
		if err == nil {
			m.out.Promise.Attack = Number(a.BestAccuracy)
		}
	}
	m.out.Promise.Answers = Answers(*g)
	m.out.Promise.Words = words(*g, float64(m.out.Promise.Attack))
	if f := m.in.Fidelity; f != nil && covers(g) && f.Guarantee.Epsilon > g.Epsilon {
		m.out.Promise.Words = append(m.out.Promise.Words, fmt.Sprintf("With the released figures of "+
			"this report, ε = %s was used.", accountant.FormatUpper(f.Guarantee.Epsilon, 4)))
	}
}

// approximate returns the (ε, δ) guarantee as an event.
func approximate(g ledger.Guarantee) accountant.Event {
	return accountant.Approximate{Epsilon: g.Epsilon, Delta: g.Delta}
}

// words returns the guarantee in words for readers without mathematics.
func words(g ledger.Guarantee, guess float64) []string {
	if g.NotPrivate != "" {
		return []string{"There is no guarantee: " + g.NotPrivate + "."}
	}
	if math.IsInf(g.Epsilon, 1) {
		return []string{"There is no guarantee: no finite ε is known for what was done to the records."}
	}
	unit := g.Unit
	if unit == "" {
		unit = "record"
	}
	change := "had been left out, or one more had been added"
	if g.Relation == accountant.ReplaceOne {
		change = "had been replaced by any other"
	}
	out := []string{
		fmt.Sprintf("The synthetic records were made so that they depend very little on any single "+
			"%s: if one %s %s, every outcome would have been at most %s times as likely or as unlikely as it "+
			"was%s.", unit, unit, change, factor(g.Epsilon), exception(g.Delta)),
	}
	if !math.IsNaN(guess) {
		out = append(out, fmt.Sprintf("A person who knows every other %s, and how all of this works, "+
			"and guesses from the result whether one given %s was among the data, which was as likely as "+
			"not beforehand, is right in at most %s %% of cases; tossing a coin is right in 50 %%.",
			unit, unit, accountant.FormatUpper(100*guess, 3)))
	}
	switch unit {
	case "record":
		out = append(out, "The promise protects each record, that is one row of the data. A person who "+
			"contributed several rows is protected less: the more rows, the less.")
	default:
		text := fmt.Sprintf("The promise protects each %s with everything that it contributed", unit)
		if g.RowsPerUnit > 0 {
			text += fmt.Sprintf(": at most %d rows of each were used", g.RowsPerUnit)
		}
		out = append(out, text+".")
	}
	out = append(out, "The promise holds for the synthetic records, for the generator that makes them, "+
		"and for everything that is computed from these alone, however often, by anybody and for "+
		"ever. It does not say that nothing can be learnt about a person: what is true of people in "+
		"general can be learnt, whether or not that person took part.")
	if g.Budget > 0 && !math.IsInf(g.Budget, 1) {
		out = append(out, fmt.Sprintf("Of the budget of ε = %g that was set for these data, ε = %s "+
			"had been used when the generator was made.", g.Budget, accountant.FormatUpper(g.Epsilon, 4)))
	}
	return out
}

// factor returns e^ε in words, rounded up.
func factor(epsilon float64) string {
	switch f := math.Exp(epsilon); {
	case f < 10:
		return fmt.Sprintf("%.2f", math.Ceil(100*f)/100)
	case f < 1e6:
		return fmt.Sprintf("%.0f", math.Ceil(f))
	default:
		return accountant.FormatUpper(f, 2)
	}
}

func exception(delta float64) string {
	if delta <= 0 {
		return ""
	}
	odds := math.Round(1 / delta)
	if 1/odds < delta {
		odds-- // the probability that is stated is not below δ
	}
	return fmt.Sprintf(", except with a probability of about 1 in %s", thousands(odds))
}

// thousands writes a large number in groups of three digits.
func thousands(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// bill lists the paid items: the stages of the plan, or the lines of the guarantee.
func (m *maker) bill() error {
	if m.in.Plan != nil {
		for _, s := range m.in.Plan.Stages() {
			m.out.Bill = append(m.out.Bill, BillLine{s.Purpose, accountant.Describe(s.Event),
				s.Count * max(s.Parts, 1), Number(s.Epsilon.Upper)})
		}
		return nil
	}
	m.out.Bill = []BillLine{}
	if m.guarantee == nil {
		return nil
	}
	for _, e := range m.guarantee.Entries {
		line := BillLine{e.Purpose, e.Description, e.Reserved, none}
		if event, err := accountant.UnmarshalEvent(e.Event); err == nil && e.Reserved > 0 {
			b, err := accountant.Epsilon(accountant.Repeated{Event: event, Count: e.Reserved},
				m.guarantee.Delta, m.guarantee.Relation)
			if err == nil {
				line.Epsilon = Number(b.Upper)
			}
		}
		m.out.Bill = append(m.out.Bill, line)
	}
	return nil
}
