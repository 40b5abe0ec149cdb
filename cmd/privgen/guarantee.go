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

// modelCard describes a generator to people who will use its records, in Markdown.
func modelCard(gen *privgen.Generator) string {
	g, s := gen.Guarantee(), gen.Schema()
	var b strings.Builder
	p := func(format string, args ...any) {
		b.WriteString(wrapParagraph(fmt.Sprintf(format, args...)) + "\n")
	}
	p("# Synthetic records: %v\n", s)
	p("The system `%s` learnt from sensitive records under differential privacy.\n", gen.System())
	p("## Privacy\n")
	if g.NotPrivate != "" {
		p("**There is no guarantee: %s.**\n", param.OneLine(g.NotPrivate))
	} else {
		p("The generator satisfies (ε = %s, δ = %s)-differential privacy under the relation %v. The "+
			"protected unit is %s. Drawing synthetic records, in any number, costs no further "+
			"privacy.\n", accountant.FormatUpper(g.Epsilon, 4), accountant.FormatUpper(g.Delta, 4),
			g.Relation, g.Units())
	}
	p("| release | mechanism | times | noise |\n|---|---|---|---|")
	for _, e := range g.Entries {
		fmt.Fprintf(&b, "| %s | %s | %d | %v |\n", cell(e.Purpose), cell(e.Description), e.Reserved,
			cell(strings.Trim(fmt.Sprint(e.NoiseClass), "[]")))
	}
	p("\nThe price was computed by: %s. Budget of the ledger: ε = %g.\n",
		param.OneLine(g.Accountant), g.Budget)
	if g.Kept != nil {
		p("Ledger: %s.\n", param.OneLine(g.Kept.String()))
	}
	p("The guarantee does not cover:\n")
	for _, n := range g.NotCovered {
		p("- %s", param.OneLine(n))
	}
	p("\n## Questions of NIST SP 800-226\n")
	p("| topic | question | answer |\n|---|---|---|")
	for _, a := range report.Answers(g) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Topic, a.Question, cell(a.Answer))
	}
	p("\n## Records\n")
	if columns := s.Columns(); len(columns) > 0 {
		p("| column | description |\n|---|---|")
		for _, c := range columns {
			kind := strings.TrimPrefix(c.String(), c.Name()+": ")
			fmt.Fprintf(&b, "| %s | %s |\n", cell(c.Name()), cell(kind))
		}
	} else {
		p("%v", s)
	}
	p("\nBounds and levels were declared before any record was read, or were paid for.\n")
	p("## Limits\n")
	p("Synthetic records resemble the real records only in what the system learnt, and noise hides " +
		"rare values. A synthetic record does not show that such a person exists, and its absence does " +
		"not show that no such person exists. Check important results on the real records, or release " +
		"them at a further price.")
	return b.String()
}

// wrapParagraph wraps a paragraph. Tables and headings are unchanged.
func wrapParagraph(text string) string {
	if strings.HasPrefix(text, "|") || strings.HasPrefix(text, "#") {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for i, part := range wrapLine(line, columns) {
			if part = strings.TrimLeft(part, " "); i > 0 && strings.HasPrefix(line, "- ") {
				part = "  " + part
			}
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n")
}

// cell escapes the characters of a text that would end a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(param.OneLine(text), "|", `\|`) }
