// Package arrow reads and writes tables as Apache Arrow: streams and files of its IPC format, and
// record batches of arrow-go.
//
// Columns are found by name, in any order; columns that the schema does not name are not read. A
// column of numbers takes integers, floating-point numbers, decimals, bools (0 and 1) and texts
// that spell numbers; a column of levels takes texts, integers (their decimal text) and, where it
// has two levels, bools. Either may be a dictionary. Moments are read from timestamps, dates, texts
// and numbers of seconds since 1970; lengths of time from durations, texts and numbers of seconds.
// In other columns dates, times and durations are the integers that they are kept as. Null is a
// missing value, and so is NaN in a column of numbers. Identifiers are not read. Lists, structs,
// unions, run-end encodings and binary values are errors.
//
// What a cell holds is never an error: it is read as the schema says, and [records.Check] reports
// what is odd. A dictionary index that the dictionary does not have, and a text whose bytes the
// column does not have, are missing values of their rows alone. What rows share is not theirs: a
// buffer that is too short for its rows, a dictionary and its texts, and the point where one text
// ends and the next begins. Damage there ends the file in an error, or changes both texts.
//
// Written are a number as float64, a whole number as int64, a moment as a timestamp in UTC and a
// length of time as a duration, of the largest unit that holds the column, an identifier as utf8, a
// level as a dictionary of utf8 with indices of 32 bits, and null for a missing value.
//
// Numbers of a float64 column without nulls are not copied on the way in: a frame keeps the memory
// of its batch. On the way out the numbers and indices of a frame are made once, and are the memory
// of the batch. Levels are always read into codes of two bytes.
//
// # Limits
//
// The parts of a stream take memory as their bytes arrive, whatever lengths they state; what they
// unpack to and how many values the schema's columns hold is held to [records.Limits]. Buffers may
// be compressed by LZ4 or Zstandard. A damaged file ends in an error and never in a panic, and its
// text holds nothing of what was read.
package arrow
