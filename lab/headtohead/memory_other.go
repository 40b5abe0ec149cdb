//go:build !linux

package main

import (
	"math"
	"os"
)

// peakMemory is measured only on Linux.
func peakMemory(*os.ProcessState) float64 { return math.NaN() }
