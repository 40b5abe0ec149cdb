package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// Answer is one question about a guarantee, and its answer.
type Answer struct {
	Topic    string `json:"topic"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Answers answers the questions that NIST SP 800-226 asks of a claim of differential privacy, in
// the order of its chapters: the guarantee, the algorithms, the deployment. Some answers are the
// operator's, because no program knows them; these begin with "For the operator".
//
// Guarantee: the answers are computed from released state.
//
// Source: Near, Darais, Lefkovitz and Howarth (2025), "Guidelines for Evaluating Differential
// Privacy Guarantees".
func Answers(g ledger.Guarantee) []Answer {
	list := answers(g)
	if covers(&g) {
		return list
	}
	for i, a := range list {
		if slices.Contains(claims, a.Topic) {
			list[i].Answer = "There is no guarantee."
		}
	}
	return list
}

// claims are the topics whose answers claim something about the result. No such claim holds without
// a guarantee.
var claims = []string{"variant", "unit of privacy", "sensitivity", "kind of query", "query model",
	"trust model", "threat model", "implementation"}

func answers(g ledger.Guarantee) []Answer {
	return []Answer{
		{"privacy parameter", "How strong is the guarantee?", strength(g)},
		{"variant", "Which variant of differential privacy is it?", variant(g)},
		{"unit of privacy", "Whose data does it protect?", g.Units() + "."},
		{"bounded or unbounded", "In what do neighbouring data sets differ?",
			fmt.Sprintf("%v: %s.", g.Relation, g.Relation.Meaning(param.OneLine(g.Unit)))},
		{"comparison", "Can ε be compared with the ε of other systems?", "Only with the same unit, " +
			"relation and δ, and for the same records."},
		{"composition", "Which releases does it cover together?", composition(g)},
		{"other releases", "What else was published about these records?", "For the operator: " +
			"releases outside the ledger are not covered, with or without noise. Statistics that are " +
			"published without noise can undo the guarantee."},
		{"mechanisms", "Which mechanisms add noise?", mechanisms(g)},
		{"sensitivity", "How is the effect of one unit bounded?", "By public bounds on what one unit " +
			"contributes, which hold in the arithmetic that runs: values are clamped to the schema, " +
			"and contributions are clipped" + perUnit(g) + "."},
		{"utility", "How accurate is the result?", "Measured, not promised: by a report on records " +
			"that were held out, for people who may see the records, or by released figures at a price."},
		{"bias", "Who is represented badly?", "Small groups: noise hides rare values and their " +
			"combinations, clipping and clamping shorten extremes, and what the data do not represent, " +
			"synthetic records do not represent either. For the operator: compare the groups that matter."},
		{"kind of query", "What is released?", "A generator of synthetic records. Any number of " +
			"records may be drawn, and anything may be computed from them, at no further price."},
		{"query model", "Who asks, and how often?", queries(g)},
		{"trust model", "Who is trusted with the records?", "The machine that fits the generator and " +
			"its operators (the central model). Whoever receives the generator is not trusted."},
		{"threat model", "Against which attacker does it hold?", "Against anybody who has the " +
			"generator and its records, knows the program, the plan and all other units, and has " +
			"unlimited time. Attackers who see the machine during the run are not covered."},
		{"implementation", "Does the arithmetic keep the promise?", implementation(g)},
		{"side channels", "What else could reveal the records?", "Running time, memory and other side " +
			"channels are not covered."},
		{"security", "Who can reach the records and the ledger?", "For the operator: the records, " +
			"checkpoints and the ledger need the access control of the records. " + stored(g)},
		{"collection", "Were the records exposed before?", "For the operator: the guarantee begins " +
			"where the records are read. It does not protect their collection, transport and storage."},
	}
}

func strength(g ledger.Guarantee) string {
	if !covers(&g) {
		return "There is no guarantee" + because(g) + "."
	}
	text := fmt.Sprintf("ε = %s, δ = %s. It is an upper bound, computed by: %s.",
		accountant.FormatUpper(g.Epsilon, 4), accountant.FormatUpper(g.Delta, 4),
		param.OneLine(g.Accountant))
	a, err := accountant.AttackBounds(approximate(g), max(g.Delta, accountant.MinDelta), g.Relation)
	if err == nil {
		text += fmt.Sprintf(" Of two cases that are equally likely beforehand, %s, the result tells "+
			"anybody the right one in at most %s %% of cases.", neighbours(g.Relation),
			accountant.FormatUpper(100*a.BestAccuracy, 3))
	}
	return text
}

// neighbours names the two cases that a relation makes hard to tell apart. Under replace one, a
// result may well reveal that a unit is missing.
func neighbours(r accountant.Relation) string {
	if r == accountant.ReplaceOne {
		return "with one unit's records or with others in their place"
	}
	return "with and without one unit"
}

func because(g ledger.Guarantee) string {
	switch {
	case g.NotPrivate != "":
		return ": " + param.OneLine(g.NotPrivate)
	case math.IsInf(g.Epsilon, 1):
		return ": no finite ε is known for what was done to the records"
	}
	return ""
}

func variant(g ledger.Guarantee) string {
	if g.Delta == 0 {
		return "Pure differential privacy."
	}
	return "Approximate differential privacy, (ε, δ). δ bounds the excess over e^ε in total: it is " +
		"not the probability of an arbitrary disclosure of all records."
}

func composition(g ledger.Guarantee) string {
	uses := 0
	for _, e := range g.Entries {
		uses += e.Reserved
	}
	text := fmt.Sprintf("All %d that were reserved on one ledger when the generator was made, used or "+
		"not", uses)
	if g.Budget > 0 && !math.IsInf(g.Budget, 1) {
		text += fmt.Sprintf(". The ledger refuses more than ε = %g", g.Budget)
	}
	return text + "."
}

func mechanisms(g ledger.Guarantee) string {
	if len(g.Entries) == 0 {
		return "None: nothing was released."
	}
	uses, order := map[string]int{}, []string{}
	for _, e := range g.Entries {
		d := strings.TrimSuffix(param.OneLine(e.Description), ".")
		if uses[d] == 0 {
			order = append(order, d)
		}
		uses[d] += e.Reserved
	}
	var list []string
	for _, d := range order {
		list = append(list, fmt.Sprintf("%d × %s", uses[d], d))
	}
	const shown = 8
	if len(list) > shown {
		list = append(list[:shown:shown], fmt.Sprintf("%d more", len(list)-shown))
	}
	return strings.Join(list, "; ") + "."
}

func perUnit(g ledger.Guarantee) string {
	if g.RowsPerUnit > 0 {
		return fmt.Sprintf("; at most %d rows of each unit are read", g.RowsPerUnit)
	}
	return ""
}

func queries(g ledger.Guarantee) string {
	late := false
	for _, e := range g.Entries {
		late = late || e.Late
	}
	if late {
		return "The owner of the records, in several steps; later steps are covered as the guarantee " +
			"states."
	}
	return "The owner of the records, once: the whole plan was priced and reserved before the first " +
		"release."
}

func implementation(g ledger.Guarantee) string {
	if len(g.NoiseClass) == 0 {
		return "The class of the noise is not stated."
	}
	var list []string
	for _, c := range g.NoiseClass {
		switch c {
		case ledger.ExactNoise:
			list = append(list, "Exact: sums are integers, noise is drawn on a public grid by an exact "+
				"sampler from a cryptographic generator, and prices are rounded up.")
		default:
			list = append(list, "Real: some sums are made in floating point, or on a device. The "+
				"guarantee in full says how much more one unit may then change.")
		}
	}
	return strings.Join(list, " ")
}

func stored(g ledger.Guarantee) string {
	if g.Kept == nil {
		return "The ledger was in memory: it covers one process."
	}
	return fmt.Sprintf("The ledger: %s.", param.OneLine(g.Kept.String()))
}
