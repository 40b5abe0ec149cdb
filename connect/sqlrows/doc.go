// Package sqlrows reads tables from databases, and writes generated ones into them, over
// database/sql.
//
// A query's columns are found by name, in any order. Other columns are ignored. Values are read as
// [records.FrameBuilder.Append] reads them: numbers, texts, bools, and nil for NULL. A time becomes
// the number of seconds since 1970 in a column of numbers, its RFC 3339 text in UTC in a column of
// levels, and a moment in a [records.Datetime]. A column of identifiers is not read and need not
// exist. Lengths of time are seconds; for an interval, the query uses extract(epoch from …). The
// content of a cell is never an error; [records.Check] reports cells that do not fit the schema.
//
// An error of the driver is passed on as it is. Some drivers put values into their errors, in
// particular where the query itself converts values: convert in the schema rather than in SQL.
package sqlrows
