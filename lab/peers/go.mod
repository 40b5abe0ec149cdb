module github.com/seed7ba64551/privgen/lab/peers

go 1.26.0

require github.com/seed7ba64551/privgen v0.0.0

require (
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/seed7ba64551/privgen => ../..

require github.com/seed7ba64551/privgen/examples v0.0.0

replace github.com/seed7ba64551/privgen/examples => ../../examples

require github.com/seed7ba64551/privgen/report v0.0.0

replace github.com/seed7ba64551/privgen/report => ../../report
