package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
)

func newGuarantee(a *app) *cobra.Command {
	markdown := false
	c := &cobra.Command{
		Use:     "guarantee GENERATOR",
		GroupID: "trust",
		Short:   "Print the privacy guarantee of a generator",
		Long: "Guarantee prints the guarantee that a generator carries: ε, δ, the neighbouring " +
			"relation, every\nprivate release that led to it, and what the guarantee does not cover. " +
			"--markdown prints a model\ncard, which also answers the questions of NIST SP 800-226. " +
			"The output is computed only from\nreleased state and may be published.",
		Example:           "  privgen guarantee people.gen\n  privgen guarantee people.gen --markdown >CARD.md",
		Args:              arguments("GENERATOR"),
		ValidArgsFunction: files("gen"),
		RunE: a.action(func(_ *cobra.Command, args []string) error {
			if markdown && a.asJSON {
				return usagef("--markdown and --json: want only one of them")
			}
			g, err := openGenerator(args[0])
			if err != nil {
				return err
			}
			promise := g.Guarantee()
			if markdown {
				_, err := fmt.Fprint(a.stdout, modelCard(g))
				return err
			}
			return a.result(guaranteeResult{g.System(), g.Schema(), promise}, promise.String)
		}),
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "print a model card in Markdown")
	return c
}

// guaranteeResult is what --json prints.
type guaranteeResult struct {
	System    string           `json:"system"`
	Schema    records.Schema   `json:"schema"`
	Guarantee ledger.Guarantee `json:"guarantee"`
}

// modelCard describes a generator to people who will use its records, in Markdown. A paragraph is
// one line: no words of a file begin a line, where they could be a heading.
func modelCard(gen *privgen.Generator) string {
	g, s := gen.Guarantee(), gen.Schema()
	var b strings.Builder
	p := func(format string, args ...any) {
		fmt.Fprintf(&b, format+"\n", args...)
	}
	p("# Synthetic records: %s\n", literal(s.String()))
	p("The system `%s` learnt from sensitive records under differential privacy.\n", gen.System())
	p("## Privacy\n")
	if g.NotPrivate != "" {
		p("**There is no guarantee: %s.**\n", literal(g.NotPrivate))
	} else {
		p("The generator satisfies (ε = %s, δ = %s)-differential privacy under the relation %v. The "+
			"protected unit is %s. Drawing synthetic records, in any number, costs no further "+
			"privacy.\n", accountant.FormatUpper(g.Epsilon, 4), accountant.FormatUpper(g.Delta, 4),
			g.Relation, literal(g.Units()))
	}
	p("| release | mechanism | times | noise |\n|---|---|---|---|")
	for _, e := range g.Entries {
		fmt.Fprintf(&b, "| %s | %s | %d | %v |\n", literal(e.Purpose), literal(e.Description), e.Reserved,
			literal(strings.Trim(fmt.Sprint(e.NoiseClass), "[]")))
	}
	p("\nThe price was computed by: %s. Budget of the ledger: ε = %g.\n",
		literal(g.Accountant), g.Budget)
	if g.Kept != nil {
		p("Ledger: %s.\n", literal(g.Kept.String()))
	}
	p("The guarantee does not cover:\n")
	for _, n := range g.NotCovered {
		p("- %s", literal(n))
	}
	p("\n## Questions of NIST SP 800-226\n")
	p("| topic | question | answer |\n|---|---|---|")
	for _, a := range report.Answers(g) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Topic, a.Question, literal(a.Answer))
	}
	p("\n## Records\n")
	if columns := s.Columns(); len(columns) > 0 {
		p("| column | description |\n|---|---|")
		for _, c := range columns {
			kind := strings.TrimPrefix(c.String(), c.Name()+": ")
			fmt.Fprintf(&b, "| %s | %s |\n", literal(c.Name()), literal(kind))
		}
	} else {
		p("%s", literal(s.String()))
	}
	p("\nBounds and levels were declared before any record was read, or were paid for.\n")
	p("## Limits\n")
	p("Synthetic records resemble the real records only in what the system learnt, and noise hides " +
		"rare values. A synthetic record does not show that such a person exists, and its absence does " +
		"not show that no such person exists. Check important results on the real records, or release " +
		"them at a further price.")
	return b.String()
}

// literal returns a text of a file so that Markdown shows it as it is, in one line and in one cell
// of a table.
func literal(text string) string {
	text = param.OneLine(text)
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`, "#", `\#`).Replace(text)
}
