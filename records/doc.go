// Package records holds sensitive records the way the private algorithms read
// them: a public schema, and rows that are clamped into it as they are handed
// out.
//
// The schema is declared, never read from the data: bounds, sizes and class
// names are public inputs of every guarantee. Construction refuses what
// contradicts the declared shape (a public fact about the program); whatever a
// single record's values may be, they are clamped into the schema, silently, so
// that nothing a run does can depend on a malformed record. The data's owner
// who wants malformed records refused runs [Check] first.
//
// Three kinds of data exist: [Table] holds dense vectors and images, [Frame]
// holds tables whose columns are numbers and names (see [NewSchema]), [SetTable]
// holds subsets of a universe of items in compressed sparse rows. All are
// [Data], which is all an algorithm sees.
package records
