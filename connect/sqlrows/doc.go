// Package sqlrows reads tables from databases, and writes generated ones into them, over
// database/sql.
//
// A query's columns are found by name, in any order and among others, which are ignored. Values are
// read as [records.FrameBuilder.Append] reads them: numbers, texts, bools, and nil for NULL. A time
// is the number of seconds since 1970 in a column of numbers, and its text by RFC 3339 in UTC in a
// column of levels, and itself in a [records.Datetime]. A column of identifiers is not read, and
// need not be there; lengths of time are seconds, so that a query takes them from an interval with
// extract(epoch from …). What a cell holds is never an error; [records.Check] reports what is odd.
//
// An error of the driver is passed on as it is. Some drivers put values into their errors, in
// particular where the query itself converts values: convert in the schema rather than in SQL.
package sqlrows
