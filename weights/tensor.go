package weights

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// ErrFormat: a file is malformed, or does not hold the requested parameters.
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

// axes returns the axes of a block: one if it has a single row.
func axes(s device.Shape) []int {
	if s.Rows == 1 {
		return []int{s.Cols}
	}
	return []int{s.Rows, s.Cols}
}

// fits reports whether an array of these axes holds a block; axes of length one do not count.
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

// numbers turns the bytes of an array into 32-bit floats, all of them finite; nil for others.
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
