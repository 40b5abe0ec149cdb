package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
)

// A change replaces the bytes from..to of a file by another text: one fault.
type change struct {
	file     string
	line     int
	from, to int
	text     string
}

// Only words come from these functions and calls.
var (
	wordy     = regexp.MustCompile(`^(String|Error|Format|GoString|LogValue|Unwrap)$`)
	wordyCall = regexp.MustCompile(`^(fmt\.|errors\.|panic$|.*\.(Lock|Unlock|RLock|RUnlock|Helper)$)`)
)

// opposites holds, for operators and names, what takes their place.
var opposites = map[string]string{
	"<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*", "&&": "||",
	"||": "&&", "==": "!=", "!=": "==", "max": "min", "min": "max", "Max": "Min", "Min": "Max",
	"Ceil": "Floor", "Floor": "Ceil", "true": "false", "false": "true", "up": "down", "down": "up",
	"roundUp": "roundDown", "roundDown": "roundUp", "AddOrRemoveOne": "ReplaceOne",
	"ReplaceOne": "AddOrRemoveOne", "upper": "lower", "lower": "upper",
}

// A finder collects the changes of one file.
type finder struct {
	set   *token.FileSet
	text  string
	info  *types.Info
	of    *types.Package
	found []change
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) source(n ast.Node) string { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

func (f *finder) replace(from, to token.Pos, format string, args ...any) {
	at := f.set.Position(from)
	f.found = append(f.found, change{file: at.Filename, line: at.Line, from: at.Offset,
		to: f.offset(to), text: fmt.Sprintf(format, args...)})
}

func (f *finder) instead(n ast.Node, format string, args ...any) {
	f.replace(n.Pos(), n.End(), format, args...)
}

// visit adds the changes of one node. It returns false if nothing below matters.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return !wordy.MatchString(n.Name.Name)
	case *ast.ImportSpec:
		return false
	case *ast.CompositeLit:
		return len(n.Elts) < 40 // not a table of numbers
	case *ast.IfStmt:
		c := f.source(n.Cond)
		f.instead(n.Cond, "!(%s)", c)
		f.instead(n.Cond, "(%s) && false", c)
		f.instead(n.Cond, "(%s) || true", c)
	case *ast.BlockStmt:
		f.drop(n.List)
	case *ast.CaseClause:
		f.drop(n.Body)
	case *ast.ReturnStmt:
		f.forget(n)
	case *ast.BinaryExpr:
		f.operator(n)
	case *ast.CallExpr:
		if wordyCall.MatchString(f.source(n.Fun)) {
			return false
		}
		f.swap(n)
	case *ast.Ident:
		if other := opposites[n.Name]; other != "" && f.info.Uses[n] != nil {
			f.instead(n, "%s", other)
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			if v, ok := f.info.Uses[key].(*types.Var); ok && v.IsField() {
				f.instead(n.Value, "*new(%s)", f.name(v.Type()))
			}
		}
	case *ast.BasicLit:
		f.number(n)
	}
	return true
}

// drop removes single statements. They stay in the text, so that what they name is still used.
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
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt, *ast.BranchStmt, *ast.RangeStmt:
		default:
			continue
		}
		f.instead(s, "if false { %s }", f.source(s))
	}
}

// forget returns no error instead of one.
func (f *finder) forget(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if t := f.info.TypeOf(last); t != nil && f.source(last) != "nil" &&
		types.AssignableTo(t, types.Universe.Lookup("error").Type()) {
		f.instead(last, "nil")
	}
}

func (f *finder) operator(n *ast.BinaryExpr) {
	if t, ok := f.info.TypeOf(n).Underlying().(*types.Basic); !ok || t.Info()&types.IsString != 0 {
		return
	}
	op := n.Op.String()
	if other := opposites[op]; other != "" {
		f.replace(n.OpPos, n.OpPos+token.Pos(len(op)), "%s", other)
	}
}

// swap exchanges neighbouring arguments of the same type.
func (f *finder) swap(n *ast.CallExpr) {
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		ta, tb := f.info.TypeOf(a), f.info.TypeOf(b)
		if ta != nil && tb != nil && types.Identical(ta, tb) && f.source(a) != f.source(b) {
			f.replace(a.Pos(), b.End(), "%s, %s", f.source(b), f.source(a))
		}
	}
}

// number makes a constant larger or smaller.
func (f *finder) number(n *ast.BasicLit) {
	v := f.info.Types[n].Value
	if v == nil || v.Kind() != constant.Int && v.Kind() != constant.Float {
		return
	}
	f.instead(n, "(%s + 1)", n.Value)
	if constant.Sign(v) != 0 {
		f.instead(n, "(%s * 2)", n.Value)
		f.instead(n, "(%s / 2)", n.Value)
	}
}

// name returns how the package itself writes a type.
func (f *finder) name(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == f.of {
			return ""
		}
		return p.Name()
	})
}
