// Package partial provides exact sums of private records without noise. A sum covers some of the
// records, such as one shard. Other processes merge the sums before noise is added once.
//
//	Pass     everything public that the sums depend on
//	Partial  the sums of some records in one pass: Add, Merge, Seal
//	Shard    the public name of a set of records; no merge counts a shard twice
//
// # Transport
//
// Seal encrypts and authenticates the sums of a shard under a key of the pipeline. The pass, the
// shard's name and the attempt are authenticated too. Open refuses everything else. The length of
// sealed sums follows from the pass alone, with one exception: records that state more than about
// 5,000 parts (records.WithPart). Then the length also reveals, in steps of hundreds of parts, how
// many of the parts contained records. A source that adds every part, including empty parts,
// reveals nothing.
//
// # No record twice
//
// A pipeline may compute a shard several times: after a failure, speculatively, or because an
// input is read again. Sealed sums contain the names of the shards that they hold. Merging a
// shard that is already counted changes nothing, whichever attempt it comes from. Merging sums
// that hold some counted shards and some others is refused, since they cannot be separated. The
// caller must make sure that each record is in only one shard.
//
// # The same bits
//
// Sums are whole numbers of a public grid's steps (see mechanism.FixedSum). Merging is exactly
// associative and commutative, so the result does not depend on how records were divided among
// shards, bundles and machines. The contribution of a record has the same bits on machines of the
// same kind. A machine with other vector instructions may round a feature differently; the bound of
// each record's contribution covers this difference.
package partial
