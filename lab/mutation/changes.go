package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A change is one fault among those that are built into a package. The environment variable MUTANT
// turns it on, by its number.
type change struct {
	file string
	line int
	what string
}

// An insertion is text at an offset of a file. Ends come before beginnings at the same offset, and
// the ends of inner nodes before those of outer nodes.
type insertion struct {
	at, rank int
	text     string
}

// Only words come from these functions and calls.
var (
	wordy     = regexp.MustCompile(`^(String|Error|Format|GoString|LogValue|Unwrap)$`)
	extreme   = regexp.MustCompile(`^(min|max|cmp\.Or)\(`)
	wordyCall = regexp.MustCompile(`^(fmt\.|errors\.|panic$|.*\.(Lock|Unlock|RLock|RUnlock|Helper)$)`)
)

// operators holds the function that takes the place of an operator: see support.
var operators = map[token.Token]string{token.LSS: "less__", token.LEQ: "most__",
	token.GTR: "more__", token.GEQ: "least__", token.ADD: "plus__", token.SUB: "minus__",
	token.MUL: "times__", token.QUO: "over__"}

// A finder builds changes into one file.
type finder struct {
	set     *token.FileSet
	text    string
	info    *types.Info
	all     *[]change
	skipped map[string]int // see wrap: lines, as file:line, by how often their changes failed
	edits   []insertion
	risky   bool // the next changes may not compile
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) source(n ast.Node) string { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

// wrap puts text around a node, in which #0 stands for the number of the first change. It reports
// false, and changes nothing, for a line that did not compile: at first, only the risky changes of
// the line are left out.
func (f *finder) wrap(n ast.Node, before, after string, what ...string) bool {
	at := f.set.Position(n.Pos())
	failed := f.skipped[fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)]
	if failed > 1 || failed > 0 && f.risky {
		return false
	}
	id, rank := len(*f.all)+1, len(f.edits)
	for _, w := range what {
		*f.all = append(*f.all, change{at.Filename, at.Line, w + ": " + f.source(n)})
	}
	number := strings.NewReplacer("#0", fmt.Sprint(id), "#1", fmt.Sprint(id+1), "#2",
		fmt.Sprint(id+2)).Replace
	f.edits = append(f.edits, insertion{at.Offset, 1 + rank, number(before)},
		insertion{f.offset(n.End()), -1 - rank, number(after)})
	return true
}

// visit adds the changes of one node. It returns false if nothing below matters.
func (f *finder) visit(n ast.Node) bool {
	if e, ok := n.(ast.Expr); ok && f.info.Types[e].Value != nil {
		f.constant(e)
		return false
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		return !wordy.MatchString(n.Name.Name)
	case *ast.ImportSpec, *ast.ArrayType:
		return false
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.CompositeLit:
		f.elements(n)
		return len(n.Elts) < 40 // not a table of numbers
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.BlockStmt:
		f.drop(n.List)
	case *ast.CaseClause:
		for _, e := range n.List {
			if t := f.info.Types[e]; t.IsValue() && t.Value == nil && f.boolean(e) {
				f.condition(e)
			}
		}
		f.drop(n.Body)
	case *ast.BinaryExpr:
		f.operator(n)
	case *ast.CallExpr:
		return f.call(n)
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		if v, _ := f.info.Uses[key].(*types.Var); ok && v != nil && v.IsField() {
			if f.info.Types[n.Value].Value == nil && !f.info.Types[n.Value].IsNil() {
				f.wrap(n.Value, "zero__(#0, ", ")", "left out")
			}
			return true
		}
	case *ast.ReturnStmt:
		f.forget(n)
	}
	return true
}

func (f *finder) condition(e ast.Expr) {
	f.wrap(e, "((((", ") != is__(#0)) && !is__(#1)) || is__(#2))", "negated", "always false",
		"always true")
}

func (f *finder) boolean(e ast.Expr) bool {
	t, ok := f.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && t.Info()&types.IsBoolean != 0
}

// elements leaves one of up to three elements of a list out.
func (f *finder) elements(n *ast.CompositeLit) {
	_, list := n.Type.(*ast.ArrayType)
	if !list || f.source(n)[:2] != "[]" || len(n.Elts) == 0 || len(n.Elts) > 3 {
		return
	}
	if _, keyed := n.Elts[0].(*ast.KeyValueExpr); !keyed {
		f.risky = true // for a pointer to the list
		f.wrap(n, "without__(#0, ", ")", []string{"first element left out",
			"second element left out", "third element left out"}[:len(n.Elts)]...)
		f.risky = false
	}
}

// call exchanges min and max, and leaves one of several joined errors out. It returns false if the
// arguments are only words.
func (f *finder) call(n *ast.CallExpr) bool {
	switch name := f.source(n.Fun); name {
	case "min", "max":
		if f.wrap(n, " ", " ", "the other of min and max") {
			at := f.offset(n.Fun.Pos())
			f.edits = append(f.edits, insertion{at, len(f.edits), name + "__"},
				insertion{at, len(f.edits) + 1, "\x00" + name},
				insertion{f.offset(n.Lparen) + 1, 0, fmt.Sprintf("%d, ", len(*f.all))})
		}
	case "math.Min":
		f.wrap(n.Fun, "either__(#0, ", ", math.Max)", "the other of min and max")
	case "math.Max":
		f.wrap(n.Fun, "either__(#0, ", ", math.Min)", "the other of min and max")
	case "errors.Join":
		for _, e := range n.Args {
			if n.Ellipsis == token.NoPos {
				f.wrap(e, "zero__[error](#0, ", ")", "left out")
			}
		}
	default:
		return !wordyCall.MatchString(name)
	}
	return true
}

// drop removes single statements.
func (f *finder) drop(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && wordyCall.MatchString(f.source(c.Fun)) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt, *ast.RangeStmt, *ast.GoStmt,
			*ast.BranchStmt:
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue // the function may have to end there
			}
		default:
			continue
		}
		f.wrap(s, "if !is__(#0) { ", " }", "dropped")
		f.repeat(s)
	}
}

// repeat does a statement twice.
func (f *finder) repeat(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if f.source(s)[:3] == "os." {
			return // such as os.Exit, which nothing follows
		}
	case *ast.IncDecStmt, *ast.SendStmt:
	case *ast.AssignStmt:
		to, from := f.source(s.Lhs[0]), f.source(s.Rhs[0])
		if s.Tok == token.ASSIGN && (!strings.Contains(from, to) || extreme.MatchString(from)) {
			return // the second time changes nothing
		}
	default:
		return
	}
	f.wrap(s, "for range often__(#0) { ", " }", "done twice")
}

// forget returns no error instead of one, and the opposite of a condition.
func (f *finder) forget(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		if f.info.Types[e].Value == nil && f.boolean(e) {
			f.wrap(e, "((", ") != is__(#0))", "negated")
		}
	}
	if len(n.Results) > 0 {
		last := n.Results[len(n.Results)-1]
		if t := f.info.TypeOf(last); t == types.Universe.Lookup("error").Type() {
			f.wrap(last, "zero__[error](#0, ", ")", "forgotten")
		}
	}
}

// operator replaces <, + and their like, or leaves one side of && and || out.
func (f *finder) operator(n *ast.BinaryExpr) {
	switch name := operators[n.Op]; {
	case n.Op == token.LAND:
		f.wrap(n.X, "((", ") || is__(#0))", "always true")
		f.wrap(n.Y, "((", ") || is__(#0))", "always true")
	case n.Op == token.LOR:
		f.wrap(n.X, "((", ") && !is__(#0))", "always false")
		f.wrap(n.Y, "((", ") && !is__(#0))", "always false")
	case name != "" && f.numeric(n.X) && f.numeric(n.Y):
		if f.wrap(n, name+"(#0, ", ")", "another operator") {
			at := f.offset(n.OpPos)
			f.edits = append(f.edits, insertion{at, 0, ","},
				insertion{at, 0, "\x00" + n.Op.String()}) // the operator itself is left out
		}
	}
}

func (f *finder) numeric(e ast.Expr) bool {
	t, ok := f.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && t.Info()&types.IsNumeric != 0 && t.Info()&types.IsComplex == 0
}

// constant changes a number, or whether something is true.
func (f *finder) constant(e ast.Expr) {
	t, ok := f.info.TypeOf(e).(*types.Basic)
	switch {
	case ok && f.numeric(e) && t.Info()&types.IsUntyped == 0:
		f.wrap(e, "other__["+t.Name()+"](#0, #1, #2, ", ")", "one more", "twice", "one less")
	case ok && f.boolean(e):
		f.wrap(e, "((", ") != is__(#0))", "negated")
	}
}

// mutated returns the file with all its changes.
func (f *finder) mutated() string {
	slices.SortStableFunc(f.edits, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank))
	})
	var out []byte
	last := 0
	for _, e := range f.edits {
		out = append(out, f.text[last:max(last, e.at)]...)
		last = max(last, e.at)
		if e.text[0] == 0 {
			last += len(e.text) - 1
			continue
		}
		out = append(out, e.text...)
	}
	return string(append(out, f.text[last:]...))
}
