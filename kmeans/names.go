package kmeans

import (
	"fmt"
	"slices"
	"strings"
)

// Choices are written as words, since configurations are read by people.
const (
	methodNames = "mean-first ball packing domain public given"
	smallNames  = "keep-center split-largest"
	shrinkNames = "to-mean none"
)

func nameOf(names string, i int) string {
	if list := strings.Fields(names); i >= 0 && i < len(list) {
		return list[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func marshalName(names string, i int) ([]byte, error) {
	if !isNamed(names, i) {
		return nil, fmt.Errorf("kmeans: %d is none of: %s", i, names)
	}
	return []byte(nameOf(names, i)), nil
}

func unmarshalName(names string, text []byte) (int, error) {
	i := slices.Index(strings.Fields(names), string(text))
	if i < 0 {
		return 0, fmt.Errorf("kmeans: unknown choice, want one of: %s", names)
	}
	return i, nil
}

func isNamed(names string, i int) bool { return i >= 0 && i < len(strings.Fields(names)) }

// String is the choice in words.
func (c Method) String() string { return nameOf(methodNames, int(c)) }

// MarshalText writes the choice in words.
func (c Method) MarshalText() ([]byte, error) { return marshalName(methodNames, int(c)) }

// UnmarshalText reads what MarshalText wrote.
func (c *Method) UnmarshalText(text []byte) error {
	i, err := unmarshalName(methodNames, text)
	if err == nil {
		*c = Method(i)
	}
	return err
}

// String is the choice in words.
func (c Small) String() string { return nameOf(smallNames, int(c)) }

// MarshalText writes the choice in words.
func (c Small) MarshalText() ([]byte, error) { return marshalName(smallNames, int(c)) }

// UnmarshalText reads what MarshalText wrote.
func (c *Small) UnmarshalText(text []byte) error {
	i, err := unmarshalName(smallNames, text)
	if err == nil {
		*c = Small(i)
	}
	return err
}

// String is the choice in words.
func (c Shrink) String() string { return nameOf(shrinkNames, int(c)) }

// MarshalText writes the choice in words.
func (c Shrink) MarshalText() ([]byte, error) { return marshalName(shrinkNames, int(c)) }

// UnmarshalText reads what MarshalText wrote.
func (c *Shrink) UnmarshalText(text []byte) error {
	i, err := unmarshalName(shrinkNames, text)
	if err == nil {
		*c = Shrink(i)
	}
	return err
}
