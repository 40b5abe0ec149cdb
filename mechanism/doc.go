// Package mechanism is the only door to randomness that protects: noisy sums,
// noisy maxima, Poisson samples and clip factors, each drawn under an event that
// is on the ledger before the first random bit is.
//
// # Order of events
//
// A [Run] has one key and one ledger. [Run.Reserve] sets budget aside for a number
// of events and returns an [Allowance]; [Allowance.Next] writes the ledger line of
// one event and returns a [Grant], the right to that event's randomness and no
// more. A grant refuses a draw that its event does not pay for: a second
// release on the same batch, a release whose noise is too small, another
// mechanism, a sample at another rate.
//
// What a grant cannot see is the sensitivity. Every release states it, as a
// promise of the caller: [SumSensitivity], [HistogramSensitivity] and
// [ClipFactor] help to keep it, and the privacytest package puts it to the test.
//
// # Noise
//
// The source is AES-256 in counter mode under a key from the operating system,
// one key a run, in sub-streams that never overlap. It cannot be seeded.
//
// Continuous noise is released on a public grid whose step is a power of two. It
// is not an approximation: the library draws the exact law of "ideal real-valued
// noise, rounded to the nearest grid point". Samplers run in machine arithmetic with
// error bounds, and where a bound leaves a decision open they draw further bits
// and decide in interval arithmetic. Sums are held on the same grid (rounded
// before the noise, so that their last digits cannot give the data away) and
// added as whole numbers. A release is therefore a post-processing of the textbook mechanism,
// bit for bit.
//
// [Grant.Release] takes fixed-point sums ([FixedSum]) and keeps that promise to
// the end: noise class "exact". [Grant.ReleaseGradient] also takes a float32 sum, which
// is as exact as float32 addition is: noise class "real".
//
// Timing is not covered: rejection samplers take a variable time, which depends
// on the noise though not on the data.
package mechanism
