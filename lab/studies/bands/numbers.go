package main

import (
	"fmt"
	"strconv"
	"strings"
)

// numbers is a flag that takes several numbers, separated by commas.
type numbers []float64

func (n *numbers) String() string { return strings.Trim(fmt.Sprint([]float64(*n)), "[]") }

func (n *numbers) Set(text string) error {
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

// or returns the list, or a list of v if it is empty.
func (n numbers) or(v float64) []float64 {
	if len(n) == 0 {
		return []float64{v}
	}
	return n
}
