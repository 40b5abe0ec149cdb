module github.com/seed7ba64551/privgen/connect/onnx

go 1.26.0

require (
	github.com/seed7ba64551/privgen v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/seed7ba64551/privgen => ../..
