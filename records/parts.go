package records

import "iter"

// Parts converts a stream of frames or tables to a stream of [Data], the type that algorithms read:
// records.Parts(layout.Stream(file, schema, 10_000)).
func Parts[D Data](stream iter.Seq2[D, error]) iter.Seq2[Data, error] {
	return func(yield func(Data, error) bool) {
		for part, err := range stream {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(part, nil) {
				return
			}
		}
	}
}
