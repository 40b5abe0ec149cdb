// Package records holds sensitive records in the form that private algorithms read. The records
// have a public schema, and their rows are clamped into the schema when they are read.
//
// The schema is declared, never read from the data: bounds, sizes and class names are public inputs
// of every guarantee. Constructors return an error if the data contradict the declared shape, since
// the shape is public. The values of a single record are clamped into the schema silently, so a
// malformed record cannot make a run fail. To find malformed records, the owner of the data calls
// [Check] first.
//
// Three kinds of data exist. [Table] holds dense vectors and images. [Frame] holds tables whose
// columns are numbers and names; see [NewSchema]. [SetTable] holds subsets of a universe of items
// in compressed sparse rows. All implement [Data], the interface that algorithms use.
//
// # Columns
//
// Every column is encoded as numbers in [0, 1]. A number is encoded as its position between the
// bounds ([Numeric], [Integer], [Target]). A moment ([Datetime], which may also encode parts of the
// date), a length of time ([Duration]) and an ordered level ([Ordinal], [Flag]) are encoded in the
// same way. Levels without an order are encoded one-hot ([Categorical]). Texts with too many values
// to declare are hashed into buckets, which are also encoded one-hot ([Hashed]). Text is not
// modelled in any other way. A [Label] is the class of the record. An [Identifier] is neither read
// nor encoded; generated records get new identifiers.
//
// A coordinate is a float32, which distinguishes 2^24 positions between two bounds. Values that are
// read and written keep all their digits. Generated values have the resolution of a coordinate.
//
// A one-hot block has one coordinate for each level of its column. A batch holds all coordinates,
// so it takes memory for its rows times [Schema.Dim] numbers. A frame takes two bytes for each
// value of such a column, whatever the number of levels.
//
// # Constraints
//
// [Schema.WithConstraints] declares rules that generated records obey. They change neither the
// records that are read nor the guarantee; see [Constraint].
package records
