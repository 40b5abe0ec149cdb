package weights

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// ErrFormat is returned for a malformed file, and for a file without the requested parameters.
var ErrFormat = errors.New("weights: malformed file")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// check returns an error for parameters that cannot be named in a file.
func check(path string, b device.Backend, p device.Params) error {
	var c param.Checker
	c.OK(b != nil, path+".backend", nil, "a device")
	c.OK(len(p.Shapes) > 0, path+".params", "no block", "the parameters of a network")
	seen := map[string]bool{}
	for _, s := range p.Shapes {
		c.OK(s.Name != "" && s.Name != metadataKey && !seen[s.Name], path+".params",
			fmt.Sprintf("a block named %q", s.Name), "a distinct name for each block")
		seen[s.Name] = true
	}
	return c.Err()
}

// axes returns the axes of a block: a block with a single row has one axis.
func axes(s device.Shape) []int {
	if s.Rows == 1 {
		return []int{s.Cols}
	}
	return []int{s.Rows, s.Cols}
}

// fits reports whether an array with the given axes fits a block, ignoring axes of length one.
func fits(got []int, s device.Shape) bool {
	longer := func(axes []int) (out []int) {
		for _, n := range axes {
			if n != 1 {
				out = append(out, n)
			}
		}
		return out
	}
	return slices.Equal(longer(got), longer(axes(s)))
}

// numbers converts the bytes of an array to 32-bit floats. It returns nil unless all of them are
// finite.
func numbers(data []byte, width int, read func([]byte) float32) []float32 {
	if read == nil || len(data)%width != 0 {
		return nil
	}
	out := make([]float32, len(data)/width)
	for i := range out {
		if out[i] = read(data[i*width:]); out[i]-out[i] != 0 {
			return nil
		}
	}
	return out
}
