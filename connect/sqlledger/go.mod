module github.com/seed7ba64551/privgen/connect/sqlledger

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.12.0
	github.com/seed7ba64551/privgen v0.0.0
	modernc.org/sqlite v1.61.1
)

require gonum.org/v1/gonum v0.17.0 // indirect

require (
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/seed7ba64551/privgen/connect/sqlrows v0.0.0
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace github.com/seed7ba64551/privgen => ../..

exclude github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50

replace github.com/seed7ba64551/privgen/connect/sqlrows => ../sqlrows
