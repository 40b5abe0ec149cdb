package main

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// policy lists the packages of this module that each package may import. A package that is not
// listed may import none of them, so a new package must be added here first.
//
// The table is the architecture. Packages of arithmetic and matrices do not depend on packages for
// privacy. No package below the systems depends on a system.
var policy = map[string][]string{
	"internal/param":    {},
	"accountant":        {"accountant/internal/pld", "accountant/internal/renyi"},
	"device":            {},
	"internal/entropy":  {},
	"internal/chunked":  {},
	"internal/durable":  {},
	"internal/npy":      {},
	"records":           {"device", "internal/npy"},
	"records/tensors":   {"device", "records"},
	"ledger":            {"accountant", "internal/durable"},
	"ledger/ledgertest": {"ledger", "accountant"},
	"mechanism": {"accountant", "ledger", "records", "internal/chunked", "internal/entropy",
		"mechanism/internal/sampler"},
	"models":            {"device"},
	"models/modelstest": {"device", "models"},
	"rff":               {"device"},
	"kmeans":            {"accountant", "ledger", "mechanism", "records", "device", "models"},
	"sgd": {"accountant", "ledger", "mechanism", "records", "device", "models",
		"internal/chunked"},
	"internal/defaults": {"accountant", "records"},

	"internal/graphical": {},
	"internal/marginal":  {"accountant", "mechanism", "records", "internal/network", "synth"},

	"synth": {"accountant", "ledger", "mechanism", "records", "device", "models",
		"internal/durable"},
	"synth/synthtest": {"synth", "accountant", "ledger", "mechanism", "records", "device", "models",
		"privacytest", "internal/entropy", "internal/pins"},
	"internal/pins":    {"synth", "device"},
	"internal/network": {"synth", "records", "device", "models", "rff"},
	"dpgm": {"internal/defaults", "accountant", "mechanism", "records", "device",
		"models", "rff", "kmeans", "sgd", "internal/network", "synth"},
	"merf": {"internal/defaults", "internal/marginal", "accountant", "ledger", "mechanism",
		"records", "device", "models", "rff", "sgd", "internal/network",
		"synth"},
	"mix": {"internal/defaults", "accountant", "ledger", "mechanism", "records",
		"device", "models", "rff", "sgd", "internal/network", "synth"},
	"gan": {"internal/defaults", "accountant", "mechanism", "records", "device",
		"models", "sgd", "internal/network", "synth"},
	"compose": {"accountant", "ledger", "mechanism", "records", "device", "models", "rff", "sgd",
		"synth", "internal/marginal", "internal/network"},
	"tables": {"accountant", "mechanism", "records", "device", "internal/defaults",
		"internal/graphical", "internal/marginal", "internal/network", "synth"},
	"sets": {"accountant", "mechanism", "records", "device",
		"internal/defaults", "internal/network", "synth"},
	"privacytest": {"accountant", "ledger", "mechanism", "records",
		"internal/entropy", "device"},
	"device/devicetest": {"device"},
	"device/cuda":       {"device", "internal/chunked"},
	"": {"synth", "sets", "tables", "accountant", "mechanism", "records",
		"device", "models", "rff", "kmeans", "sgd", "dpgm", "merf", "mix", "gan",
		"compose"},
	"accountant/internal/pld":    {"accountant/internal/renyi"},
	"accountant/internal/renyi":  {},
	"mechanism/internal/sampler": {"internal/chunked", "internal/entropy"},
}

// confined maps external packages to the one package that may import them, because linking them has
// a cost: tensor adds 15 MB, and cu needs a driver. C is among them, since the core is pure Go.
var confined = map[string]string{
	"gorgonia.org/tensor":                "records/tensors",
	"gorgonia.org/cu":                    "device/cuda",
	"C":                                  "device/cuda",
	"go4.org/unsafe/assume-no-moving-gc": "records/tensors",
}

// banned lists packages that no library package may import, with the reason.
var banned = map[string]string{
	"math/rand":             "use math/rand/v2; noise comes from mechanism",
	"golang.org/x/exp/rand": "use math/rand/v2; noise comes from mechanism",
	"log":                   "a library does not write logs of its own",
}

func TestImportsPointDown(t *testing.T) {
	files := 0
	for pkg, file := range sources(t) {
		for _, f := range file {
			files++
			checkFile(t, pkg, f)
		}
	}
	if files < 20 {
		t.Fatalf("only %d files seen: the walk is broken", files)
	}
}

// TestPolicyCatchesWrongImports proves the check can fail.
func TestPolicyCatchesWrongImports(t *testing.T) {
	for _, c := range []struct{ pkg, target string }{
		{"accountant", module + "/mechanism"},
		{"models", module + "/accountant"},
		{"mechanism/internal/sampler", module + "/accountant"},
		{"device", module + "/records"},
		{"kmeans", module + "/rff"},
		{"dpgm", module + "/internal/classify"},
		{"internal/network", module + "/internal/classify"},
		{"", module + "/privacytest"},
		{"", module + "/records/tensors"},
		{"sgd", "math/rand"},
		{"records", "gorgonia.org/tensor"},
		{"device", "C"},
		{"unlisted", module + "/device"},
		{"gan", module + "/examples/digits"},
		{"gan", module + "/lab/studies/gan"},
	} {
		if reason := refuse(c.pkg, c.target); reason == "" {
			t.Errorf("package %q may import %q, want a refusal", c.pkg, c.target)
		}
	}
	if reason := refuse("sgd", module+"/accountant"); reason != "" {
		t.Errorf("an allowed import is refused: %s", reason)
	}
}

func checkFile(t *testing.T, pkg string, f source) {
	for _, spec := range f.ast.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if reason := refuse(pkg, target); reason != "" {
			t.Errorf("%s imports %s: %s", f.name, target, reason)
		}
	}
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			t.Errorf("%s has an init function: a library acts only when it is called", f.name)
		}
	}
	if testHelpers[pkg] { // they start and end child processes
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" &&
				slices.Contains([]string{"Exit", "Getenv", "LookupEnv", "Environ"}, sel.Sel.Name) {
				t.Errorf("%s uses os.%s: a library neither ends the process nor reads its environment", f.name,
					sel.Sel.Name)
			}
		}
		return true
	})
}

// testHelpers are imported by tests only.
var testHelpers = map[string]bool{"synth/synthtest": true, "privacytest": true,
	"device/devicetest": true, "ledger/ledgertest": true}

// refuse returns the reason why pkg may not import target, or "" if it may.
func refuse(pkg, target string) string {
	if why, bad := banned[target]; bad {
		return why
	}
	for prefix, home := range confined {
		if (target == prefix || strings.HasPrefix(target, prefix+"/")) && pkg != home {
			return "only " + home + " may import it"
		}
	}
	if target != module && !strings.HasPrefix(target, module+"/") {
		return ""
	}
	if target == module+"/internal/param" {
		return "" // one error type, one reader of JSON and one way to print, for every package
	}
	ours := strings.TrimPrefix(strings.TrimPrefix(target, module), "/")
	if pkg == strings.TrimSuffix(ours, "/"+path.Base(ours)) && strings.Contains(ours, "/internal/") {
		return ""
	}
	allowed, listed := policy[pkg]
	switch {
	case !listed:
		return "the package has no place in the policy yet"
	case !slices.Contains(allowed, ours):
		return "the policy does not allow it"
	}
	return ""
}
