module github.com/seed7ba64551/privgen/lab

go 1.26.0

require (
	github.com/seed7ba64551/privgen v0.0.0
	github.com/seed7ba64551/privgen/examples v0.0.0
	gonum.org/v1/plot v0.17.0
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/andybalholm/brotli v1.2.3 // indirect
	github.com/apache/arrow-go/v18 v18.8.0 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/parquet-go/parquet-go v0.32.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.29 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/seed7ba64551/privgen => ..
	github.com/seed7ba64551/privgen/examples => ../examples
)

require (
	github.com/seed7ba64551/privgen/connect/images v0.0.0
	github.com/seed7ba64551/privgen/report v0.0.0
)

replace github.com/seed7ba64551/privgen/report => ../report

require github.com/seed7ba64551/privgen/draft v0.0.0

replace github.com/seed7ba64551/privgen/draft => ../draft

replace github.com/seed7ba64551/privgen/connect/images => ../connect/images

require (
	github.com/seed7ba64551/privgen/connect/arrow v0.0.0
	github.com/seed7ba64551/privgen/connect/parquet v0.0.0
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
)

replace (
	github.com/seed7ba64551/privgen/connect/arrow => ../connect/arrow
	github.com/seed7ba64551/privgen/connect/parquet => ../connect/parquet
)
