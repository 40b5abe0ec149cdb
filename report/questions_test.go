package report_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/report"
)

// TestEveryQuestionIsAnswered checks the topics of NIST SP 800-226, in its order, for guarantees of
// every kind.
func TestEveryQuestionIsAnswered(t *testing.T) {
	topics := []string{"privacy parameter", "variant", "unit of privacy", "bounded or unbounded",
		"comparison", "composition", "other releases", "mechanisms", "sensitivity", "utility", "bias",
		"kind of query", "query model", "trust model", "threat model", "implementation",
		"side channels", "security", "collection"}
	for _, g := range []ledger.Guarantee{{}, {NotPrivate: "seeded\nnoise"}, {Epsilon: math.Inf(1)},
		{Accountant: "a\nb", Unit: "c\nd", Kept: &ledger.Kept{Store: "e\nf"},
			Entries: []ledger.GuaranteeEntry{{Purpose: "g\nh", Description: "i\nj", Reserved: 1}}},
		spent(t, accountant.AddOrRemoveOne), spent(t, accountant.ReplaceOne)} {
		for i, a := range report.Answers(g) {
			if a.Topic != topics[i] {
				t.Errorf("%q, want %q", a.Topic, topics[i])
			}
			if !strings.HasSuffix(a.Question, "?") || !strings.HasSuffix(a.Answer, ".") ||
				strings.ContainsAny(a.Answer, "\n") || strings.Contains(a.Answer, "%!") {
				t.Errorf("%+v", a)
			}
		}
		if n := len(report.Answers(g)); n != len(topics) {
			t.Errorf("%d answers to %d questions", n, len(topics))
		}
	}
}

// TestAnswersFollowTheGuarantee changes one property of a guarantee at a time, and checks which
// answers change and what they then say.
func TestAnswersFollowTheGuarantee(t *testing.T) {
	before := spent(t, accountant.AddOrRemoveOne)
	for name, c := range map[string]struct {
		change func(*ledger.Guarantee)
		topics []string
		words  string
	}{
		"ε": {func(g *ledger.Guarantee) { g.Epsilon = 3.25 }, []string{"privacy parameter"},
			"ε = 3.25"},
		"seeded": {func(g *ledger.Guarantee) { g.NotPrivate = "seeded noise" },
			[]string{"privacy parameter", "variant", "unit of privacy", "sensitivity", "kind of query",
				"query model", "trust model", "threat model", "implementation"},
			"There is no guarantee: seeded noise."},
		"pure": {func(g *ledger.Guarantee) { g.Delta = 0 },
			[]string{"privacy parameter", "variant"}, "Pure"},
		"unit": {func(g *ledger.Guarantee) { g.Unit = "driver" },
			[]string{"unit of privacy", "bounded or unbounded"}, "one driver"},
		"relation": {func(g *ledger.Guarantee) { g.Relation = accountant.ReplaceOne },
			[]string{"privacy parameter", "bounded or unbounded"},
			"with one unit's records or with others in their place"},
		"late": {func(g *ledger.Guarantee) { g.Entries[0].Late = true }, []string{"query model"},
			"in several steps"},
		"one more": {func(g *ledger.Guarantee) { g.Entries[0].Reserved += 994 },
			[]string{"composition", "mechanisms"}, "99"},
		"the same again": {func(g *ledger.Guarantee) {
			again := g.Entries[0]
			again.Purpose, again.Reserved = "again", 700-again.Reserved
			g.Entries = append(g.Entries, again)
		}, []string{"composition", "mechanisms"}, "700 × "},
		"class": {func(g *ledger.Guarantee) { g.NoiseClass = []ledger.NoiseClass{ledger.RealNoise} },
			[]string{"implementation"}, "Real: "},
		"budget": {func(g *ledger.Guarantee) { g.Budget = 77 }, []string{"composition"}, "ε = 77"},
		"stored": {func(g *ledger.Guarantee) { g.Kept = &ledger.Kept{Ledger: "L"} },
			[]string{"security"}, `"L"`},
	} {
		g := before
		g.Entries = append([]ledger.GuaranteeEntry(nil), before.Entries...)
		c.change(&g)
		var topics []string
		text := ""
		old := report.Answers(before)
		for i, a := range report.Answers(g) {
			if a != old[i] {
				topics, text = append(topics, a.Topic), text+a.Answer
			}
		}
		if !reflect.DeepEqual(topics, c.topics) || !strings.Contains(text, c.words) {
			t.Errorf("%s: changed %q: %s", name, topics, text)
		}
	}
}
