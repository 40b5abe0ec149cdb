package tensors_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/tensors"
)

// pin is a requirement of go.mod. Without it, package tensor ends the process at start-up on a
// newer Go release.
const pin = "go4.org/unsafe/assume-no-moving-gc v0.0.0-20231121144256-b99613f794b6"

func TestModuleRequiresThePin(t *testing.T) {
	if !strings.Contains(goMod(t), pin) {
		t.Errorf("go.mod does not require %s: gorgonia.org/tensor will refuse to start on a new Go "+
			"release", pin)
	}
}

func goMod(t *testing.T) string {
	t.Helper()
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			return string(text)
		}
		if abs, _ := filepath.Abs(dir); abs == filepath.Dir(abs) {
			t.Fatal("no folder above this one holds go.mod")
		}
	}
}

func backing(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(i) / float32(n)
	}
	return out
}

func TestFromDenseSharesTheBackingSlice(t *testing.T) {
	flat := backing(12)
	for _, shape := range [][]int{{3, 4}, {3, 2, 2}} {
		d := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(flat))
		table, err := tensors.FromDense(records.Interval(4, 0, 1), d)
		if err != nil {
			t.Fatal(err)
		}
		got, shared := table.Flat()
		if !shared || &got[0] != &flat[0] || len(got) != 12 || table.Len() != 3 {
			t.Errorf("shape %v: the table does not share the tensor's slice", shape)
		}
	}
}

func TestFromDenseTakesAViewOfRows(t *testing.T) {
	flat := backing(12)
	d := tensor.New(tensor.WithShape(3, 4), tensor.WithBacking(flat))
	view, err := d.Slice(tensor.S(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	table, err := tensors.FromDense(records.Interval(4, 0, 1), view.(*tensor.Dense))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Row(nil, 0); got[0] != flat[4] || table.Len() != 2 {
		t.Errorf("row 0 of the view begins with %v, and the table has %d rows", got[0], table.Len())
	}
}

func TestFromDenseRefuses(t *testing.T) {
	fresh := func() *tensor.Dense {
		return tensor.New(tensor.WithShape(3, 4), tensor.WithBacking(backing(12)))
	}
	transposed := tensor.New(tensor.WithShape(4, 3), tensor.WithBacking(backing(12)))
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	columns, err := tensor.New(tensor.WithShape(3, 8), tensor.WithBacking(backing(24))).Slice(nil,
		tensor.S(0, 4))
	if err != nil {
		t.Fatal(err)
	}
	masked := fresh()
	masked.ResetMask(true)
	for name, d := range map[string]*tensor.Dense{
		"nil":           nil,
		"transposed":    transposed,
		"column view":   columns.(*tensor.Dense),
		"masked":        masked,
		"float64":       tensor.New(tensor.WithShape(3, 4), tensor.Of(tensor.Float64)),
		"another width": tensor.New(tensor.WithShape(4, 3), tensor.WithBacking(backing(12))),
		"a scalar":      tensor.New(tensor.FromScalar(float32(1))),
		"column major":  tensor.New(tensor.WithShape(3, 4), tensor.AsFortran(backing(12))),
		"the zero one":  {},
	} {
		_, err := tensors.FromDense(records.Interval(4, 0, 1), d)
		var shape *param.Error
		if !errors.As(err, &shape) {
			t.Errorf("%s: error %v, want a param.Error", name, err)
		}
	}
	if _, err := tensors.FromDense(records.Schema{}, fresh()); err == nil {
		t.Error("the zero schema is accepted")
	}
}

func TestLabelsTravel(t *testing.T) {
	d := tensor.New(tensor.WithShape(3, 4), tensor.WithBacking(backing(12)))
	s := records.Interval(4, 0, 1).WithLabels("a", "b")
	table, err := tensors.FromDense(s, d, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if table.Label(0) != 1 || table.Label(1) != 0 {
		t.Error("labels are lost")
	}
	if _, err := tensors.FromDense(s, d); err == nil {
		t.Error("missing labels are accepted")
	}
}

func TestToDenseSharesTheBackingSlice(t *testing.T) {
	flat := backing(12)
	table, err := records.FromFlat(records.Interval(4, 0, 1), flat)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tensors.ToDense(table)
	if err != nil {
		t.Fatal(err)
	}
	flat[5] = 0.75
	if v, _ := d.At(1, 1); v != float32(0.75) {
		t.Errorf("element (1,1) is %v: the tensor holds a copy", v)
	}
}

func TestToDenseDecodesBytes(t *testing.T) {
	table, err := records.FromBytes(records.Image(1, 2), []byte{0, 255, 255, 0})
	if err != nil {
		t.Fatal(err)
	}
	d, err := tensors.ToDense(table)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Data()); got != "[0 1 1 0]" {
		t.Errorf("got decoded values %s, want [0 1 1 0]", got)
	}
	if _, err := tensors.ToDense(table.Slice(0, 0)); err == nil {
		t.Error("a table without records is accepted")
	}
}

func ExampleFromDense() {
	d := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{0, 1, 0, 1, 1, 2}))
	table, err := tensors.FromDense(records.Binary(3), d)
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch device.Batch
	table.Range(0, 2, &batch)
	fmt.Println(batch.Dense.Data) // the 2 is clamped into the schema
	// Output: [0 1 0 1 1 1]
}
