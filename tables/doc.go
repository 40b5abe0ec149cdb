// Package tables has the graphical models AIM and MST: private synthesisers for tables that train
// no network. Each has a plan, a ledger and a guarantee like any other system.
//
//	AIM  tables of a few columns that differ most from the model, one after another
//	MST  pairs of columns along a tree
//
// # Codes and tables
//
// AIM and MST treat a row as a list of codes. Levels, flags and integers with at most 128 values
// have a code for each value. Other numbers have 126 cells of equal width between their public
// bounds, on the scale on which the schema encodes them, and a code for each bound. A missing
// value is a code. One joint release counts the codes of all columns. These counts decide how
// codes are merged into groups. Numbers are merged into ranges that have a fraction 1/Bins of
// the records or 2/Bins of the values, and more records than twice the noise of their sum; a
// frequent value stays alone. Rare levels are merged into one group. Classes are never merged. The
// tables of two or three columns count these groups.
//
// A row is generated in three steps. Its groups are drawn from the fitted model. Within each group,
// a code is drawn by the counts of the first release; within the first and the last range of a
// column of numbers, codes become rarer towards the column's bound, which may be far beyond all
// numbers. A number is then drawn within its cell. Every generated row is therefore valid under the
// schema.
//
// A second joint release counts records within frequent cells of numbers, if [Common.WithinPart] is
// not 0. A cell is frequent if its released count is four standard deviations of such counts. If
// the column is of whole numbers or has a step, a cell of at most 4,096 values has a count for each
// value. Any other cell has counts of sixteen ranges of equal width and of up to sixteen of its
// roundest values. At most 60,000 counts are made; the most frequent cells come first. A count that
// clearly exceeds its noise and its neighbours is kept, so a frequent single value stays frequent.
// The other records of the cell are divided evenly, except between halves whose counts differ
// clearly. A value may then have probability 0, and a condition that allows no other value is
// rejected. Without these counts a number is drawn uniformly within its cell.
//
// Rows are drawn in stratified pools of 1,024 to 65,536. Every row has the distribution of the
// model, but counts within a pool vary less than counts of independent draws.
//
// The fitted tables have at most Cells cells together, which bounds memory and time. Candidates
// that need more are not chosen. There are at most 5,000 candidates. For wide schemas the pairs
// with the class come first, then pairs of columns that are close in the schema. Triples are then
// left out or restricted to triples with the class.
//
// # Defaults
//
// Every field has a default. With [Common.Nominal], Bins is √(s/30), between 4 and 16. Here s is
// the number of records divided by the noise of one release that costs the whole budget. WithinPart
// is 0.03 if 5·√(m/0.03) ≤ 0.06·s, where m is the number of columns of numbers with cells. A value
// of 6 % of the records is then five standard deviations above the noise of its count. The
// measurements are in docs/studies/marginals.md.
package tables
