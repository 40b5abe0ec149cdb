package device_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

func ExampleCPU() {
	be := device.CPU()
	x, w, y := be.New(2, 3), be.New(3, 2), be.New(2, 2)
	be.Upload(x, []float32{1, 2, 3, 4, 5, 6})
	be.Upload(w, []float32{1, 0, 0, 1, 1, 1})
	be.Gemm(false, false, 1, x, w, 0, y) // y = x w
	out := make([]float32, 4)
	be.Download(out, y)
	fmt.Println(out)
	// Output: [4 5 10 11]
}

func ExampleNewParams() {
	be := device.CPU()
	p := device.NewParams(be, device.Shape{Name: "weights", Rows: 3, Cols: 2},
		device.Shape{Name: "bias", Rows: 1, Cols: 2})
	be.Fill(p.Block(1), 0.5)
	fmt.Println(p.Len(), p.Flat.Data)
	// Output: 8 [0 0 0 0 0 0 0.5 0.5]
}

func ExampleSparse() {
	be := device.CPU()
	// {0, 2} and {1}
	sets := &device.Sparse{Cols: 3, Offsets: []int{0, 2, 3}, Items: []uint32{0, 2, 1}}
	w, y := be.New(3, 1), be.New(2, 1)
	be.Upload(w, []float32{1, 10, 100})
	be.SparseGemm(sets, w, 0, y)
	fmt.Println(y.Data)
	// Output: [101 10]
}
