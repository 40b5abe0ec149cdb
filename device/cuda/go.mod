module github.com/seed7ba64551/privgen/device/cuda

go 1.26.0

require (
	github.com/seed7ba64551/privgen v0.0.0
	gorgonia.org/cu v0.9.6
)

require (
	github.com/google/uuid v1.1.1 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/seed7ba64551/privgen => ../..
