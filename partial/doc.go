// Package partial holds exact private sums that have no noise yet: those of some of the records,
// such as one shard of them, which other processes merge before noise is added once.
//
//	Pass     what is added up: everything public that the sums depend on
//	Partial  the sums of some records in one pass: Add, Merge, Seal
//	Shard    the public name of a set of records, so that no merge counts them twice
//
// # Transport
//
// Seal encrypts and authenticates the sums of a shard under a key of the pipeline, together with
// the pass, the shard's name and the attempt that made them; Open refuses everything else. Sealed
// sums have a length that follows from the pass alone. The one exception is records that state more
// than about 5,000 parts (records.WithPart): there the length also tells, in steps of hundreds of
// parts, in how many of them records were. A source that adds every part, empty ones too, tells
// nothing.
//
// # No record twice
//
// A pipeline may compute a shard several times: after a failure, speculatively, or because an
// input is read again. Sums that were sealed know which shards they hold. Merging a shard that is
// counted already changes nothing, whichever attempt it comes from; merging sums that hold some of
// the counted shards and others is refused, since they cannot be taken apart. A record must be in
// one shard only, which is for the caller to see to.
//
// # The same bits
//
// Sums are whole numbers of a public grid's steps (see mechanism.FixedSum): merging is associative
// and commutative exactly, so that the result does not depend on how records were spread over
// shards, bundles and machines. Records' contributions are the same bits on machines of one kind; a
// machine with other vector instructions may round a feature differently, which the bound of each
// record's contribution covers.
package partial
