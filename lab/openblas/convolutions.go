package main

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// convolutions times convolutions of 100 images, their transposes and the gradients of their
// weights. It counts the multiplications and additions that the layer needs, not those with zeros.
func convolutions(b device.Backend, samples int, clock func() float64, peak float64) {
	c, ok := b.(device.Convolver)
	if !ok {
		fmt.Println("the backend has no convolutions")
		return
	}
	fmt.Printf("%-44s %9s %6s\n", "window over image, maps; operation", "GFLOP/s", "peak")
	const images = 100
	for _, s := range []struct {
		side, channels, size, stride, maps int
	}{
		{28, 1, 5, 1, 8}, {28, 1, 3, 1, 32}, {14, 8, 5, 1, 16}, {28, 8, 3, 1, 16}, {14, 16, 5, 1, 32},
		{14, 32, 3, 1, 64}, {7, 64, 3, 1, 128}, {14, 32, 4, 2, 64}, {32, 16, 3, 1, 16},
	} {
		w := device.Window{Image: device.Image{Height: s.side, Width: s.side, Channels: s.channels},
			Size: s.size, Stride: s.stride, Pad: (s.size - 1) / 2}
		src, m := random(images, w.Len(), false), random(images*w.Places(), s.maps, false)
		weights, sum := random(w.Patch(), s.maps, false), random(w.Patch(), s.maps, false)
		norms := make([]float64, images)
		patches := random(images*w.Places(), w.Patch(), false)
		flops := 2 * float64(images) * float64(w.Places()*w.Patch()*s.maps)
		for _, op := range []struct {
			name string
			do   func() bool
		}{
			{"forward", func() bool { return c.Convolve(w, false, src, weights, m) }},
			{"gradient of the input", func() bool { return c.Spread(w, true, m, weights, src) }},
			{"gradient of the weights", func() bool { return c.AddConvolved(w, false, src, m, sum) }},
			{"norms per example", func() bool {
				b.Im2Col(w, patches, src)
				b.BlockProductNorms(norms, w.Places(), patches, m)
				return true
			}},
		} {
			name := fmt.Sprintf("%d×%d over %d×%d×%d, %d; %s", s.size, s.size, s.side, s.side, s.channels,
				s.maps, op.name)
			if !op.do() {
				fmt.Printf("%-44s %9s\n", name, "none")
				continue
			}
			op.do()
			start := clock()
			op.do()
			times := max(int(5e-3/max(clock()-start, 1e-6)), 1)
			var rates []float64
			for range samples {
				start := clock()
				for range times {
					op.do()
				}
				rates = append(rates, flops*float64(times)/(clock()-start)/1e9)
			}
			slices.Sort(rates)
			rate := rates[len(rates)/2]
			fmt.Printf("%-44s %9.1f %5.0f%%\n", name, rate, 100*rate/peak)
		}
	}
}
