package param

import (
	"fmt"
	"strings"
)

// Names holds the names of the values 0, 1, … of an integer type. A value with an empty name is
// known and is written as an empty text.
type Names[T ~int] struct {
	Type string   // the type's name with its package, such as sgd.Split
	List []string // by value
}

// Known reports whether v has a name.
func (n Names[T]) Known(v T) bool { return v >= 0 && int(v) < len(n.List) }

// String returns the name of v. For a value without a name, it returns the type's name with the
// number, such as Split(7).
func (n Names[T]) String(v T) string {
	if n.Known(v) {
		return n.List[v]
	}
	_, bare, _ := strings.Cut(n.Type, ".")
	return fmt.Sprintf("%s(%d)", bare, int(v))
}

// Marshal returns the name of v.
//
// Errors: *[Error] for a value that has no name.
func (n Names[T]) Marshal(v T) ([]byte, error) {
	if !n.Known(v) {
		return nil, New(n.Type, int(v), n.want())
	}
	return []byte(n.List[v]), nil
}

// Unmarshal sets v to the value with the given name. If no value has this name, it does not change
// v.
//
// Errors: *[Error] for any other text, listing the accepted names.
func (n Names[T]) Unmarshal(text []byte, v *T) error {
	for i, name := range n.List {
		if name == string(text) {
			*v = T(i)
			return nil
		}
	}
	return New(n.Type, string(text[:min(len(text), longest)]), n.want())
}

// longest is the largest number of bytes of an unknown name that an error repeats.
const longest = 40

// want returns a list of the names for errors.
func (n Names[T]) want() string {
	var names []string
	for _, name := range n.List {
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
