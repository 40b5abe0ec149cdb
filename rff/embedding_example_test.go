package rff_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/rff"
)

// The sum of these features over all records consists of the table's one-way and two-way marginals.
// A record changes the sum by at most the norm bound.
func ExamplePairs() {
	layout := rff.Layout{In: 4, Blocks: []rff.Block{
		{Offset: 0, Width: 1},               // a number in [0,1]
		{Offset: 1, Width: 3, OneHot: true}, // a category of three levels
	}}
	e, err := rff.Pairs{Knots: 3}.Embedding(layout, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	be := device.CPU()
	record := device.Batch{Rows: 1, Dense: device.HostMatrix(1, 4, []float32{0.25, 0, 1, 0})}
	features := be.New(1, e.Dim())
	e.Transform(be, record, features)

	fmt.Printf("number %.2f\n", features.Row(0)[:3])
	fmt.Printf("category %.2f\n", features.Row(0)[3:6])
	fmt.Printf("both %.2f\n", features.Row(0)[6:])
	fmt.Printf("norm at most %v, change at most %.3f\n", e.NormBound(), e.ChangeBound())
	// Output:
	// number [0.32 0.32 0.00]
	// category [0.00 0.63 0.00]
	// both [0.00 0.22 0.00 0.00 0.22 0.00 0.00 0.00 0.00]
	// norm at most 1, change at most 1.414
}

// The features distinguish windows of an image by their positions and their contents.
func ExamplePatches() {
	kernel := rff.Patches{Dim: 1000, Windows: []float64{0.4, 1}, Blur: 1, Low: 1, High: 10}
	e, err := kernel.Embedding(rff.Layout{In: 64, Height: 8, Width: 8}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.In(), e.Dim(), e.NormBound(), e.ChangeBound())

	data, err := rff.MarshalEmbedding(kernel)
	fmt.Println(string(data), err)
	// Output:
	// 64 1000 1 2
	// {"kernel":"patches","params":{"dim":1000,"windows":[0.4,1],"blur":1,"low":1,"high":10}} <nil>
}
