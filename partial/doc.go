// Package partial provides exact private sums without noise over some of the records, such as one
// shard. Other processes merge them before noise is added once.
//
//	Pass     what is added up: everything public that the sums depend on
//	Partial  the sums of some records in one pass: Add, Merge, Seal
//	Shard    the public name of a set of records, so that no merge counts them twice
//
// # Transport
//
// Seal encrypts and authenticates the sums of a shard under a key of the pipeline, together with
// the pass, the shard's name and the attempt that made them; Open refuses everything else. The
// length of sealed sums follows from the pass alone. The only exception are records that state
// more than about 5,000 parts (records.WithPart): then the length also reveals, in steps of
// hundreds of parts, how many of the parts contained records. A source that adds every part,
// empty ones included, reveals nothing.
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
// Sums are whole numbers of a public grid's steps (see mechanism.FixedSum): merging is
// associative and commutative exactly, so that the result does not depend on how records were
// divided among shards, bundles and machines. The contribution of a record has the same bits on
// machines of the same kind; a machine with other vector instructions may round a feature
// differently, which the bound of each record's contribution covers.
package partial
