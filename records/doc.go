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
//
// # Columns
//
// Every column is encoded as numbers in [0, 1]. A number is its place between the bounds
// ([Numeric], [Integer], [Target]), and so is a moment ([Datetime], whose parts of the date may
// follow), a length of time ([Duration]) and an ordered level ([Ordinal], [Flag]); other levels
// are one-hot ([Categorical]), and so are the buckets of texts that are too many to declare
// ([Hashed]). Text is never modelled in any other way. A [Label] is the class of the record. An
// [Identifier] is neither read nor encoded: generated records are given new ones.
//
// A coordinate is a float32, which tells 2^24 places between two bounds apart. Values that are
// read and written keep all their digits; generated ones have no more than that.
//
// A one-hot block has as many coordinates as its column has levels, and batches hold all of them:
// the memory of a batch is its rows times [Schema.Dim]. A frame holds two bytes for each such
// value, whatever the number of levels.
//
// # Constraints
//
// [Schema.WithConstraints] declares what generated records obey. Constraints change no record that
// is read and no guarantee: see [Constraint].
package records
