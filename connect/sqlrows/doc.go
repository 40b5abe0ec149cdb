// Package sqlrows reads tables from databases and writes generated tables into them, over
// database/sql.
//
// A query's columns are found by name, in any order. Other columns are ignored. Values are read as
// [records.FrameBuilder.Append] reads them: numbers, texts, bools, and nil for NULL. In a column of
// numbers, a time becomes the number of seconds since 1970. In a column of levels, it becomes its
// RFC 3339 text in UTC. A [records.Datetime] holds the same time. A column of identifiers is not
// read and need not exist. Durations are numbers of seconds; for an interval, use extract(epoch
// from …) in the query. The content of a cell is never an error; [records.Check] reports cells that
// do not fit the schema.
//
// Errors of the driver are returned unchanged. Some drivers include values in their errors, in
// particular if the query itself converts values, so convert by the schema rather than in SQL.
package sqlrows
