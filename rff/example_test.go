package rff_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// Inner products of features estimate the kernel. Each row of features has norm 1.
func ExampleRBF() {
	m, err := rff.RBF{Dim: 2000, Bandwidth: 2}.New(3, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	be := device.CPU()
	records := device.Batch{Rows: 2, Dense: be.New(2, 3)}
	be.Upload(records.Dense, []float32{1, 0, 0, 0, 1, 1})

	features := be.New(2, m.Dim())
	m.Transform(be, records, features)

	estimate, squared := make([]float64, 1), make([]float64, 2)
	be.RowDots(estimate, features.RowRange(0, 1), features.RowRange(1, 2))
	be.RowSquaredNorms(squared, features)
	fmt.Printf("kernel %.3f, estimated %.1f\n", 0.687, estimate[0])
	fmt.Printf("squared norms %.3f, bound %v\n", squared, m.NormBound())
	// Output:
	// kernel 0.687, estimated 0.7
	// squared norms [1.000 1.000], bound 1
}
