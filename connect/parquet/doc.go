// Package parquet reads and writes tables as Apache Parquet files.
//
// A file's columns are found by name, in any order; columns that the schema does not name are not
// read. They have to be flat: a column of lists or structs is an error. A column of numbers takes
// integers, decimals of up to 38 digits, floating-point numbers, bools (0 and 1) and texts that
// spell numbers; a column of levels takes texts, integers (their decimal text) and, where it has
// two levels, bools. A [records.Datetime] takes TIMESTAMP and DATE besides, and in other columns of
// numbers these are the integers that the file holds. Null is a missing value, and so is NaN in a
// column of numbers. Identifiers are not read.
//
// What a cell holds is never an error: it is read as the schema says, and [records.Check] reports
// what is odd.
//
// Files that this package writes hold each column in the schema's order: a number as DOUBLE, a
// whole number as INT64, a moment as DATE or as TIMESTAMP of milliseconds, microseconds or
// nanoseconds in UTC, a length of time in seconds as INT64 or DECIMAL, an identifier as a STRING, a
// level as a STRING with a dictionary, and null for a missing value.
//
// [WriteDataset] writes a folder of files with a card, and [Groups] reads several row groups at a
// time.
//
// Pages may be compressed by Snappy, Gzip, Brotli or Zstandard.
//
// # Limits
//
// Before a value is read, the sizes that a file's footer states are held to [records.Limits]: the
// number of values of the schema's columns and the bytes that they unpack to. Pages are unpacked by
// parquet-go, which holds their stated sizes to no limit of ours: read files of unknown origin in a
// process whose memory is limited. A damaged file ends in an error and never in a panic.
package parquet
