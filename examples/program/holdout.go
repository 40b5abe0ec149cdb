package program

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// HoldOut divides rows at random, with a public seed. About a fifth of them are held out.
func HoldOut(all *records.Frame) (rows, held *records.Frame) {
	var kept, out []int32
	rng := rand.New(rand.NewPCG(1, 0x73706c6974))
	for i := range int32(all.Len()) {
		if rng.Float64() < 0.2 {
			out = append(out, i)
		} else {
			kept = append(kept, i)
		}
	}
	return all.Take(kept), all.Take(out)
}
