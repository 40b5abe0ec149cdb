// Package arrow reads and writes tables as Apache Arrow: streams and files of its IPC format, and
// record batches of arrow-go.
//
// Columns are found by name, in any order; columns that the schema does not name are not read. A
// column of numbers takes integers, floating-point numbers, decimals, bools (0 and 1) and texts
// that spell numbers. A column of levels takes texts, integers (as their decimal text) and, if it
// has two levels, bools. Either may be a dictionary. A [records.Datetime] takes timestamps, dates,
// texts and numbers of seconds since 1970; a [records.Duration] takes durations, times of day,
// texts and numbers of seconds. Other columns read dates, times and durations as the integers that
// store them. Null is a missing value, and so is NaN. Identifiers are not read. Lists, structs,
// unions, run-end encodings and binary values are errors.
//
// The content of a cell is never an error: it is read as the schema says, and [records.Check]
// reports invalid values. A dictionary index outside the dictionary, or a text whose bytes lie
// outside the column, is a missing value of its row and affects no other row. Rows share some data:
// the buffers of a column, a dictionary and its texts, and the offset at which one text ends and
// the next begins. Damage to shared data is an error, or changes the rows that share it.
//
// Numbers are written as float64 and whole numbers as int64. Datetimes are written as timestamps in
// UTC and durations as durations, both in the largest unit that represents the column exactly.
// Identifiers are written as utf8, levels as a dictionary of utf8 with indices of 32 bits, and
// missing values as null.
//
// The numbers of a float64 column without nulls are not copied when they are read: the frame keeps
// the memory of the batch. When a frame is written, its numbers and indices are stored once, in the
// memory of the batch. Levels are always read into codes of two bytes.
//
// # Limits
//
// Memory for the parts of a stream is allocated as their bytes arrive, and not by the lengths that
// they state. [records.Limits] bound the unpacked size and the number of values in the schema's
// columns. Buffers may be compressed by LZ4 or Zstandard. A damaged file results in an error, never
// in a panic, and the text of the error contains nothing that was read.
package arrow
