module github.com/seed7ba64551/privgen/benchmarks/history

go 1.26.0
