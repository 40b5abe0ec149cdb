module github.com/seed7ba64551/privgen/lab/peers/formats

go 1.26.0

require (
	github.com/seed7ba64551/privgen v0.0.0
	github.com/seed7ba64551/privgen/connect/arrow v0.0.0
	github.com/seed7ba64551/privgen/connect/onnx v0.0.0
	github.com/seed7ba64551/privgen/connect/parquet v0.0.0
)

require (
	github.com/andybalholm/brotli v1.2.3 // indirect
	github.com/apache/arrow-go/v18 v18.8.0 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/parquet-go/parquet-go v0.32.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.29 // indirect
	github.com/seed7ba64551/privgen/connect/images v0.0.0
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace (
	github.com/seed7ba64551/privgen => ../../..
	github.com/seed7ba64551/privgen/connect/arrow => ../../../connect/arrow
	github.com/seed7ba64551/privgen/connect/onnx => ../../../connect/onnx
	github.com/seed7ba64551/privgen/connect/parquet => ../../../connect/parquet
	github.com/seed7ba64551/privgen/report => ../../../report
)

replace github.com/seed7ba64551/privgen/draft => ../../../draft

replace github.com/seed7ba64551/privgen/connect/images => ../../../connect/images
