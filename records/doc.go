// Package records holds sensitive records in the form that private algorithms read: a
// public schema, and rows that are clamped into it when they are read.
//
// The schema is declared, never read from the data: bounds, sizes and class
// names are public inputs of every guarantee. Construction returns an error if the data
// contradict the declared shape (a public fact about the program). The values of a
// single record are clamped into the schema silently, so that a run cannot depend on a
// malformed record. To find malformed records, the data's owner calls [Check] first.
//
// Three kinds of data exist: [Table] holds dense vectors and images, [Frame]
// holds tables whose columns are numbers and names (see [NewSchema]), [SetTable] holds
// subsets of a universe of items in compressed sparse rows. All implement [Data], the
// interface that algorithms use.
package records
