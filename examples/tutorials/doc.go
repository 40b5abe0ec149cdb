// Package tutorials holds the programs of docs/tutorials. Each is an Example that go test compiles
// and runs; the pages quote them.
package tutorials
