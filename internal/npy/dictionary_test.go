package npy

import (
	"regexp"
	"testing"
)

// FuzzEntry compares entry with regular expressions that define the form of an entry. entry does
// not use package regexp, so programs do not have to link it.
func FuzzEntry(f *testing.F) {
	for _, s := range []string{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
		"'descr':'f8''descr' : '|b1'", "'descr':x'descr':'<f4'", "'descr': '<<f4'", "'descr': 'f4",
		"'shape':()", "'shape': (1,2", "'shape' :\t(1 ,2)", "'fortran_order': True 'fortran_order':False",
		"'shape'(1)'shape':(2)", "'descr''descr':'u1'", "'descr':'f3''", "'descr'descr': 'b1'"} {
		f.Add(s)
	}
	for _, k := range entries {
		k.shape = regexp.MustCompile(k.pattern)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, k := range entries {
			want := ""
			if m := k.shape.FindStringSubmatch(text); m != nil {
				want = m[1]
			}
			if got := entry(text, k.key, k.read); got != want {
				t.Errorf("%s of %q is %q, want %q", k.key, text, got, want)
			}
		}
	})
}

var entries = []*struct {
	key, pattern string
	read         func(string) (string, bool)
	shape        *regexp.Regexp
}{
	{"'descr'", `'descr'\s*:\s*'([<>|=]?[fiub][1248])'`, typeText, nil},
	{"'fortran_order'", `'fortran_order'\s*:\s*(False)`, falseText, nil},
	{"'shape'", `'shape'\s*:\s*\(([0-9, ]*)\)`, shapeText, nil},
}
