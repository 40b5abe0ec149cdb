package program

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbers is a flag that takes several numbers, separated by commas.
type Numbers []float64

// String returns the list.
func (n *Numbers) String() string { return strings.Trim(fmt.Sprint([]float64(*n)), "[]") }

// Set reads a list.
func (n *Numbers) Set(text string) error {
	*n = nil
	for _, field := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return err
		}
		*n = append(*n, v)
	}
	return nil
}

// Or returns the list, or a list of v if it is empty.
func (n Numbers) Or(v float64) []float64 {
	if len(n) == 0 {
		return []float64{v}
	}
	return n
}
