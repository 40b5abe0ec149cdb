package judge

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Mark and Caveat are part of every result.
const (
	Mark   = "[not private] "
	Caveat = "computed from real records; covered by no ε"
)

// marked is the JSON form of every result.
type marked struct {
	Private bool   `json:"private"`
	Caveat  string `json:"caveat"`
	Kind    string `json:"kind"`
	Result  any    `json:"result"`
}

// JSON writes a result with its caveat.
func JSON(kind string, result any) ([]byte, error) {
	return json.Marshal(marked{Caveat: Caveat, Kind: kind, Result: result})
}

// Table returns a matrix of numbers of records as text, with a title; head returns the start of
// each row.
func Table(title string, counts [][]int, head func(row int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s (%s)\n", Mark, title, Caveat)
	for i, row := range counts {
		b.WriteString(head(i) + " |")
		for _, n := range row {
			fmt.Fprintf(&b, " %6d", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
