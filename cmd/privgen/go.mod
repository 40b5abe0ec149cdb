module github.com/seed7ba64551/privgen/cmd/privgen

go 1.26.0

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/seed7ba64551/privgen v0.0.0
	github.com/seed7ba64551/privgen/connect/parquet v0.0.0
	github.com/seed7ba64551/privgen/connect/sqlledger v0.0.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	github.com/vbauerster/mpb/v8 v8.12.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	modernc.org/sqlite v1.61.1
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.20 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/parquet-go/parquet-go v0.32.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/richardlehane/mscfb v1.0.9 // indirect
	github.com/richardlehane/msoleps v1.0.6 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/tiendc/go-deepcopy v1.7.2 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/xuri/efp v0.0.3-0.20260924042702-217b81952dec // indirect
	github.com/xuri/nfp v0.0.2-0.20250530014748-2ddeb826f9a9 // indirect
	go.yaml.in/yaml/v3 v3.0.4 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
	google.golang.org/protobuf v1.34.2 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace (
	github.com/seed7ba64551/privgen => ../..
	github.com/seed7ba64551/privgen/connect/parquet => ../../connect/parquet
	github.com/seed7ba64551/privgen/connect/sqlledger => ../../connect/sqlledger
)

exclude github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50

require (
	github.com/seed7ba64551/privgen/connect/images v0.0.0
	github.com/seed7ba64551/privgen/report v0.0.0
)

replace github.com/seed7ba64551/privgen/report => ../../report

require (
	github.com/klauspost/compress v1.19.2
	github.com/seed7ba64551/privgen/connect/released v0.0.0
	github.com/seed7ba64551/privgen/connect/sqlrows v0.0.0
	github.com/seed7ba64551/privgen/draft v0.0.0
	github.com/xuri/excelize/v2 v2.11.1
	golang.org/x/text v0.43.0
)

replace github.com/seed7ba64551/privgen/draft => ../../draft

replace github.com/seed7ba64551/privgen/connect/images => ../../connect/images

replace github.com/seed7ba64551/privgen/connect/released => ../../connect/released

replace github.com/seed7ba64551/privgen/connect/sqlrows => ../../connect/sqlrows
