package main

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// BenchmarkStep measures private steps on random records.
func BenchmarkStep(b *testing.B) {
	var all map[string]settings
	if err := json.Unmarshal(settingsFile, &all); err != nil {
		b.Fatal(err)
	}
	for name, compute := range networks {
		b.Run(name, func(b *testing.B) {
			s, rng := all[name], rand.New(rand.NewPCG(1, 1))
			s.Train = s.Batch
			d := &data{make([]float32, s.Train*s.Dim), make([]int32, s.Train)}
			for i := range d.x {
				d.x[i] = rng.Float32() * float32(s.Most)
			}
			e := &example{settings: s, data: d, compute: compute}
			if err := e.start(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := e.step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.Batch*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
