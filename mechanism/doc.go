// Package mechanism is the only source of the randomness that protects records. It provides noisy
// sums, noisy maxima and Poisson samples. Each of them is drawn under an event that is on the
// ledger before the first random bit is drawn. The package also provides clip factors.
//
// # Order of events
//
// A [Run] has one key and one ledger. [Run.Reserve] sets budget aside for a number of events and
// returns an [Allowance]. [Allowance.Next] takes one use on the ledger and returns a [Grant]. The
// grant permits only the draws of its event, and returns [ErrNotCovered] for all others. Examples
// are a second release on the same batch, a release with too little noise, another mechanism, and a
// sample at another rate.
//
// A grant cannot check the sensitivity. The caller of a release states it and must guarantee that
// it is true. [SumSensitivity], [HistogramSensitivity] and [ClipFactor] help, and package
// privacytest tests sensitivities.
//
// # Noise
//
// The source is AES-256 in counter mode. Each run has its own key from the operating system, and
// sub-streams never overlap. The source cannot be seeded.
//
// Continuous noise is released on a public grid whose step is a power of two. The noise is not an
// approximation: it is sampled exactly from ideal real-valued noise rounded to the nearest grid
// point. Samplers use machine arithmetic with error bounds. If a bound does not settle a decision,
// they draw further bits and decide in interval arithmetic. Sums are rounded to the same grid
// before the noise is added, so that their last digits cannot reveal data. The noise is added in
// integers. A release is therefore a post-processing of the textbook mechanism, bit for bit.
//
// [Grant.Release] takes fixed-point sums ([FixedSum]) and is exact throughout; its noise class is
// "exact". [Grant.ReleaseGradient] also takes a float32 sum, which has the errors of float32
// addition; its noise class is then "real".
//
// Timing is not covered: rejection samplers take a variable time, which depends on the noise but
// not on the data.
//
// # Sums of shards
//
// A [Partial] is the exact sum over some of the records, such as one shard, without noise. Other
// processes merge such sums before noise is added once. A [PassID] names everything public that the
// sums depend on, and a [Shard] a set of records.
//
// [Partial.Seal] encrypts and authenticates the sums of a shard under a key of the pipeline. The
// pass, the shard's name and the attempt are authenticated too. [Partial.Open] refuses everything
// else. The length of sealed sums follows from the pass alone, with one exception: records that
// state more than about 5,000 parts (records.WithPart). Then the length also reveals, in steps of
// hundreds of parts, how many of the parts contained records. A source that adds every part,
// including empty parts, reveals nothing.
//
// A pipeline may compute a shard several times: after a failure, speculatively, or because an
// input is read again. Sealed sums contain the names of the shards that they hold. Merging a
// shard that is already counted changes nothing, whichever attempt it comes from. Merging sums
// that hold some counted shards and some others is refused, since they cannot be separated. The
// caller must make sure that each record is in only one shard.
//
// Sums are whole numbers of a public grid's steps (see FixedSum). Merging is exactly
// associative and commutative, so the result does not depend on how records were divided among
// shards, bundles and machines. The contribution of a record has the same bits on machines of the
// same kind. A machine with other vector instructions may round a feature differently; the bound of
// each record's contribution covers this difference.
package mechanism
