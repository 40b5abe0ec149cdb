package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MathML converts a displayed formula from LaTeX to MathML. It supports the commands that the
// documents use: letters, numbers, operators, groups, sub- and superscripts, \frac, \sqrt, \text,
// \left and \right, and the symbols below. Errors: other commands, and groups that do not end.
func MathML(tex string) (string, error) {
	p := formula{rest: strings.TrimSpace(tex)}
	body, err := p.row("")
	if err != nil {
		return "", fmt.Errorf("formula %q: %w", tex, err)
	}
	return `<math display="block">` + body + "</math>", nil
}

var symbols = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "Sigma": "Σ",
	"varepsilon": "ε", "epsilon": "ε", "eta": "η", "lambda": "λ", "mu": "μ",
	"sigma": "σ", "phi": "φ", "tau": "τ",
	"infty": "∞", "ell": "ℓ", "partial": "∂",
}

var operators = map[string]string{
	"le": "≤", "ge": "≥", "cdot": "·", "times": "×", "sum": "∑", "prod": "∏", "in": "∈", "to": "→",
	"otimes": "⊗", "odot": "∘", "lVert": "‖", "rVert": "‖", "|": "‖", "approx": "≈", "dots": "…",
	"lfloor": "⌊", "rfloor": "⌋", "ne": "≠", "sim": "∼", "Rightarrow": "⇒", "max": "max",
	"min": "min", "log": "log", "exp": "exp", "Pr": "Pr", "{": "{", "}": "}",
}

// formula is the rest of a formula that has not been read.
type formula struct{ rest string }

// row reads terms up to and including a closing mark.
func (p *formula) row(closing string) (string, error) {
	var b strings.Builder
	for {
		p.rest = strings.TrimLeft(p.rest, " \n\t")
		switch {
		case closing != "" && strings.HasPrefix(p.rest, closing):
			p.rest = p.rest[len(closing):]
			return "<mrow>" + b.String() + "</mrow>", nil
		case p.rest == "" && closing != "":
			return "", fmt.Errorf("the group does not end with %q", closing)
		case p.rest == "":
			return "<mrow>" + b.String() + "</mrow>", nil
		}
		term, err := p.scripted()
		if err != nil {
			return "", err
		}
		b.WriteString(term)
	}
}

// scripted reads a term with its sub- and superscripts.
func (p *formula) scripted() (string, error) {
	base, err := p.term()
	if err != nil {
		return "", err
	}
	var below, above string
	for {
		p.rest = strings.TrimLeft(p.rest, " \n\t")
		switch {
		case strings.HasPrefix(p.rest, "_") && below == "":
			p.rest = p.rest[1:]
			below, err = p.term()
		case strings.HasPrefix(p.rest, "^") && above == "":
			p.rest = p.rest[1:]
			above, err = p.term()
		default:
			return attach(base, below, above), nil
		}
		if err != nil {
			return "", err
		}
	}
}

func attach(base, below, above string) string {
	kind := "sub sup subsup"
	if base == "<mo>∑</mo>" || base == "<mo>∏</mo>" || base == "<mo>max</mo>" {
		kind = "under over underover"
	}
	names := strings.Fields(kind)
	switch {
	case below != "" && above != "":
		return "<m" + names[2] + ">" + base + below + above + "</m" + names[2] + ">"
	case below != "":
		return "<m" + names[0] + ">" + base + below + "</m" + names[0] + ">"
	case above != "":
		return "<m" + names[1] + ">" + base + above + "</m" + names[1] + ">"
	}
	return base
}

// term reads a group, a command, a number, or one character.
func (p *formula) term() (string, error) {
	p.rest = strings.TrimLeft(p.rest, " \n\t")
	r, size := utf8.DecodeRuneInString(p.rest)
	switch {
	case p.rest == "":
		return "", fmt.Errorf("the formula ends where a term is expected")
	case r == '{':
		p.rest = p.rest[1:]
		return p.row("}")
	case r == '\\':
		return p.command()
	case unicode.IsDigit(r) || r == '.':
		n := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789."))
		number := p.rest[:n]
		p.rest = p.rest[n:]
		return "<mn>" + number + "</mn>", nil
	case r == '}' || r == '_' || r == '^' || r == '&':
		return "", fmt.Errorf("unexpected %q", r)
	}
	p.rest = p.rest[size:]
	if unicode.IsLetter(r) {
		return "<mi>" + string(r) + "</mi>", nil
	}
	return "<mo>" + escape(string(r)) + "</mo>", nil
}

func (p *formula) command() (string, error) {
	p.rest = p.rest[1:]
	n := 0
	for n < len(p.rest) && unicode.IsLetter(rune(p.rest[n])) {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(p.rest)
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	if s, ok := symbols[name]; ok {
		return "<mi>" + s + "</mi>", nil
	}
	if s, ok := operators[name]; ok {
		return "<mo>" + s + "</mo>", nil
	}
	switch name {
	case "left", "right":
		return p.term()
	case ",", ";", "quad", " ":
		return `<mspace width="0.5em"/>`, nil
	case "text", "mathrm":
		rest, ok := strings.CutPrefix(p.rest, "{")
		inside, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return "", fmt.Errorf("\\%s: want {…}", name)
		}
		p.rest = after
		return "<mtext>" + strings.ReplaceAll(escape(inside), " ", " ") + "</mtext>", nil
	case "sqrt":
		inside, err := p.term()
		return "<msqrt>" + inside + "</msqrt>", err
	case "frac":
		above, err := p.term()
		if err != nil {
			return "", err
		}
		below, err := p.term()
		return "<mfrac>" + above + below + "</mfrac>", err
	}
	return "", fmt.Errorf("command \\%s is not known", name)
}
