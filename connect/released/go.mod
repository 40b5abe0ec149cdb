module github.com/seed7ba64551/privgen/connect/released

go 1.26.0

require github.com/seed7ba64551/privgen v0.0.0

require golang.org/x/sys v0.49.0 // indirect

replace github.com/seed7ba64551/privgen => ../..
