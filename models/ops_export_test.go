package models

import "github.com/seed7ba64551/privgen/device"

// OwnOp is an operation of this package, with the widths of its operands.
type OwnOp struct {
	Op     Op
	Widths []int
}

// OwnOps are the operations of this package that work row by row.
func OwnOps() map[string]OwnOp {
	m := device.Image{Height: 4, Width: 5, Channels: 2}
	return map[string]OwnOp{
		"largest": {pool{device.Window{Image: m, Size: 3, Stride: 2, Pad: 1}, true}, []int{40}},
		"mean":    {pool{device.Window{Image: m, Size: 2, Stride: 1}, false}, []int{40}},
		"layer":   {scaling{5, 1}, []int{20}},
		"square":  {scaling{5, 0}, []int{20}},
		"dropout": {dropout{.3}, []int{20}},
	}
}
