// Package parquet reads and writes tables as Apache Parquet files.
//
// A file's columns are found by name, in any order; columns that the schema does not name are not
// read. Columns must be flat: a column of lists or structs is an error. A column of numbers takes
// integers, decimals of at most 38 digits, floating-point numbers, bools (0 and 1) and numbers
// written as text. A column of levels takes texts, numbers (as their decimal text) and, if it has
// two levels, bools. A [records.Datetime] also takes TIMESTAMP and DATE, and a [records.Duration]
// TIME, since midnight; other columns of numbers, except durations, read these as the integers that
// the file holds. Null is a missing value, and so is NaN. Identifiers are not read.
//
// No cell causes an error by its content. Invalid values are read as the schema specifies for them,
// and [records.Check] reports them.
//
// Files that this package writes have the columns in the schema's order. Numbers are written as
// DOUBLE and whole numbers as INT64. Datetimes are written as DATE or as TIMESTAMP of milliseconds,
// microseconds or nanoseconds in UTC, and durations in seconds as INT64 or DECIMAL. Identifiers are
// written as STRING, levels as STRING with a dictionary, and missing values as null.
//
// [WriteDataset] writes a folder of files with a data set card (README.md). [Groups] reads several
// row groups concurrently. [ReadTables] and [WriteTables] are for several tables whose rows belong
// to each other, one file for each.
//
// Pages may be compressed by Snappy, Gzip, Brotli or Zstandard.
//
// # Limits
//
// Before a value is read, two sizes in a file's footer are compared with [records.Limits]: the
// number of values of the schema's columns, and the bytes that they unpack to. [Groups] compares
// the number of values of each row group, and [Stream] compares only the bytes. The sizes that
// pages state are not compared: parquet-go unpacks the pages without these limits. Read files of
// unknown origin in a process whose memory is limited. A damaged file results in an error, never in
// a panic.
package parquet
