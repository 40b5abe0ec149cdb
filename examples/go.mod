module github.com/seed7ba64551/privgen/examples

go 1.26.0

require (
	github.com/seed7ba64551/privgen v0.0.0
	github.com/seed7ba64551/privgen/connect/images v0.0.0
	golang.org/x/image v0.47.0
)

require (
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/seed7ba64551/privgen => ..

require github.com/seed7ba64551/privgen/report v0.0.0

replace github.com/seed7ba64551/privgen/report => ../report

replace github.com/seed7ba64551/privgen/connect/images => ../connect/images
