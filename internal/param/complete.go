package param

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Complete compares given with whole, the canonical text of the value read from given. It returns
// an error that names a field missing from given. A missing field is read as zero, and a file must
// not lower its cost by leaving out a field.
func Complete(path string, given, whole []byte) error {
	var g, w any
	if err := errors.Join(Decode(given, &g), Decode(whole, &w)); err != nil {
		return err
	}
	if at, found := lacks(g, w); found {
		return New(path+at, nil, "a value")
	}
	return nil
}

// lacks returns the path of the first field of whole that given lacks.
func lacks(given, whole any) (at string, found bool) {
	switch w := whole.(type) {
	case map[string]any:
		g, _ := given.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if x, ok := g[k]; !ok || x == nil && w[k] != nil {
				return "." + k, true
			} else if at, found := lacks(x, w[k]); found {
				return "." + k + at, true
			}
		}
	case []any:
		g, _ := given.([]any)
		for i := range min(len(w), len(g)) {
			if at, found := lacks(g[i], w[i]); found {
				return fmt.Sprintf("[%d]%s", i, at), true
			}
		}
	}
	return "", false
}
