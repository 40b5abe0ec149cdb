//go:build !linux

package main

// meter measures nothing on this system.
type meter struct{}

func newMeter() meter { return meter{} }

func (meter) String() string { return "processor time and memory are measured only on Linux" }
