// Package tensors converts between records and gorgonia.org/tensor: from a *tensor.Dense to a table
// and back, without a copy.
//
// Linking the tensor package adds about fifteen megabytes to a program, so no other package of this
// module imports it.
package tensors

import (
	"fmt"
	"slices"

	// Package tensor refuses to start on a Go release that assume-no-moving-gc does not know. This
	// import lets the go.mod file of this module choose the version of assume-no-moving-gc.
	_ "go4.org/unsafe/assume-no-moving-gc"
	"gorgonia.org/tensor"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// FromDense returns a table of the records in a float32 tensor. The table shares the tensor's
// backing slice: do not write to the tensor while the table is in use.
//
// Shapes: the first axis counts records, the others multiply to the schema's dimension. labels has
// one entry for each record if the schema has classes, otherwise none.
// Errors: *[param.Error] for a tensor that is masked, is not float32 or has another shape, and for
// a transposed or sliced view, whose rows are not one after another. Call Materialize for a view
// first.
func FromDense(s records.Schema, d *tensor.Dense, labels ...int32) (t *records.Table, err error) {
	defer recoverTensor(&err)
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, refused("nil", "a tensor")
	}
	if d.Dtype() != tensor.Float32 {
		return nil, refused(d.Dtype(), "elements of type float32")
	}
	if !d.IsNativelyAccessible() {
		return nil, refused("memory of another device", "memory that Go can read")
	}
	if len(d.Mask()) > 0 {
		return nil, refused("masked", "a tensor without a mask")
	}
	shape := d.Shape()
	if len(shape) == 0 || shape[1:].TotalSize() != s.Dim() && !(len(shape) == 1 && s.Dim() == 1) {
		return nil, refused(fmt.Sprintf("shape %v", shape),
			fmt.Sprintf("records of dimension %d along the first axis", s.Dim()))
	}
	if !slices.Equal(d.Strides(), rowMajor(shape)) {
		return nil, refused(fmt.Sprintf("strides %v", d.Strides()),
			"rows one after another; call Materialize first")
	}
	flat, ok := d.Data().([]float32)
	if !ok || len(flat) < shape.TotalSize() {
		return nil, refused(fmt.Sprintf("shape %v", shape), "a backing slice of that many elements")
	}
	return records.FromFlat(s, flat[:shape.TotalSize()], labels...)
}

// ToDense returns the records of a table as a tensor of shape n × Dim. If the table holds float32
// values, as generated records do, the tensor shares its backing slice, with the values as they
// were given. A table of bytes is decoded into a copy.
//
// Errors: *[param.Error] for a table without records, which no tensor can
// hold.
func ToDense(t *records.Table) (d *tensor.Dense, err error) {
	defer recoverTensor(&err)
	if t.Len() == 0 {
		return nil, refused("a table without records", "at least one record")
	}
	values, _ := t.Flat()
	return tensor.New(tensor.WithShape(t.Len(), t.Schema().Dim()), tensor.WithBacking(values)), nil
}

// rowMajor returns the strides of a contiguous tensor in C order.
func rowMajor(shape tensor.Shape) []int {
	strides := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = step
		step *= shape[i]
	}
	return strides
}

func refused(value any, want string) error {
	return &param.Error{Path: "tensors.Dense", Value: value, Want: want}
}

// recoverTensor turns a panic of the tensor package into an error. It drops the text of the panic,
// which may quote elements.
func recoverTensor(err *error) {
	if recover() != nil {
		*err = refused("a tensor that its own package cannot read", "a consistent tensor")
	}
}
