package weights_test

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// TestNetworksContinue: a network with loaded parameters predicts the same as the network that they
// were written from. A network of another shape does not change.
func TestNetworksContinue(t *testing.T) {
	classifier := func(seed uint64, hidden int) *models.Classifier {
		n, err := models.CNN{Height: 6, Width: 6, Channels: 3, Hidden: []int{hidden},
			Convolutions: []models.Convolution{{Maps: 4, Size: 3, Pad: 1}}}.
			Classifier(device.CPU(), 108, 3, seed)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	predicted := func(n *models.Classifier) []float32 {
		x, out := device.CPU().New(4, 108), device.CPU().New(4, 3)
		for i := range x.Data {
			x.Data[i] = float32(i%7) / 7
		}
		n.Predict(device.Batch{Rows: 4, Dense: x}, out)
		return out.Data
	}
	trained := classifier(1, 5)
	want := predicted(trained)
	for name, f := range formats() {
		data := written(t, f, trained.Params())
		fresh, other := classifier(2, 5), classifier(3, 6)
		if slices.Equal(predicted(fresh), want) {
			t.Fatal("the seed changes nothing")
		}
		if err := f.read(data, fresh.Params()); err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		if !slices.Equal(predicted(fresh), want) {
			t.Errorf("%s: the loaded network predicts other values", name)
		}
		before := predicted(other)
		if err := f.read(data, other.Params()); err == nil || !slices.Equal(predicted(other), before) {
			t.Errorf("%s: a network of another shape: got error %v, or it has changed", name, err)
		}
	}
}
