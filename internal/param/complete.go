package param

import (
	"errors"
	"fmt"
)

// Complete compares given with whole, the canonical text of the value read from given. It returns
// an error that names each field missing from given. A missing field is read as zero, and a file
// must not lower its cost by leaving out a field.
func Complete(path string, given, whole []byte) error {
	var g, w any
	if err := errors.Join(Decode(given, &g), Decode(whole, &w)); err != nil {
		return err
	}
	return covers(path, g, w)
}

func covers(path string, given, whole any) error {
	var errs []error
	switch w := whole.(type) {
	case map[string]any:
		g, _ := given.(map[string]any)
		for k, v := range w {
			if x, ok := g[k]; !ok || x == nil && v != nil {
				errs = append(errs, New(path+"."+k, nil, "a value"))
			} else {
				errs = append(errs, covers(path+"."+k, x, v))
			}
		}
	case []any:
		g, _ := given.([]any)
		for i, v := range w {
			if i < len(g) {
				errs = append(errs, covers(fmt.Sprintf("%s[%d]", path, i), g[i], v))
			}
		}
	}
	return errors.Join(errs...)
}
