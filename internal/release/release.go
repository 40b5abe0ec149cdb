// Package release holds what the systems and the front door say to each other
// about a released model: which synthetic records are wanted, and what a file
// cannot hold.
package release

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// Draw says which synthetic records are wanted.
type Draw struct {
	Cluster int    // one component of a mixture, or -1 for all by weight
	Class   int    // records of one class only, or -1 for all; systems that model labels know it
	Means   bool   // the mean of every coordinate instead of a record
	Seed    uint64 // synthetic records are post-processing: any seed will do
}

// All draws from every component, from a fresh seed.
func All() Draw { return Draw{Cluster: -1, Class: -1, Seed: rand.Uint64()} }

// Loading is what reading a model back needs beside the file.
type Loading struct {
	Backend       device.Backend               // nil for the CPU
	Architectures []models.DensityArchitecture // that are not the module's own, found by name
	Decodings     []models.GeneratorArchitecture
}
