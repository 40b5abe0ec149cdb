// Package chunked describes noise that a device makes in chunks, for the packages that draw noise
// and for those that know devices. Package entropy has the keys.
package chunked

// Device makes the noise of one sum in the memory that holds the sum.
type Device interface {
	// Units copies the sum, in whole units, to the host.
	Units(dst []int32)
	// Draw draws the noise of every chunk. It returns how many buffers of each stream were read, or −1
	// for a chunk with a draw that the device does not decide.
	Draw(c *Chunks) []int32
	// Sum adds the sum, whose unit is so many steps of the grid, to the noise, and sets it to zero.
	Sum(unit, grid float64)
	// Replace replaces the noise, or the noisy sum, from a coordinate on.
	Replace(offset int, numbers []float64)
	// Noisy copies the noisy sum to the host.
	Noisy(dst []float64)
}

// Chunks describes the noise of one sum, in steps of a grid.
type Chunks struct {
	Schedule *[240]byte // the round keys of AES-256
	Counters []uint64   // two for each chunk: its next counter block, as in entropy.Ahead
	Size     int        // of a chunk, in coordinates
	Dim      int

	// The numbers of sampler.Normal, and five for each of its layers.
	Layers                  []uint64
	Half, Mask, Edge, Shift uint64
	Std                     float64
}
