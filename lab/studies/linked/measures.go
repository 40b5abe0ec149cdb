package main

import "github.com/seed7ba64551/privgen/report/evaluate"

// list returns the scores in the order of their names.
func list(s evaluate.TableScores) []float64 {
	return []float64{s.Lengths, s.Columns, s.Pairs, s.Parents, s.Steps, s.Starts, s.Ends}
}

var measureNames = []string{"lengths", "columns", "pairs", "parents", "steps", "starts", "ends"}
