module github.com/seed7ba64551/privgen/connect/images

go 1.26.0

require github.com/seed7ba64551/privgen v0.0.0

require (
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/seed7ba64551/privgen => ../..
