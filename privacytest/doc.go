// Package privacytest provides unit tests for differential privacy. It belongs in test files:
// every entry point takes a testing.TB.
//
// There are three kinds of test, in order of increasing cost:
//
//   - [Replay] runs a computation on a data set and records every mechanism. Then it runs the
//     computation on a neighbour, with the recorded outputs of the mechanisms. Everything outside
//     the mechanisms must be the same, and the inputs of each mechanism may differ by at most the
//     declared distance. The test is deterministic, takes milliseconds, and is by far the most
//     sensitive: it finds a missing clip, a scale taken from the data, or a step that is skipped if
//     a batch is empty.
//   - [Claim] draws from a black box on two neighbours and tries to refute a claimed (ε, δ), with
//     a stated probability of a false alarm. It finds wrong noise.
//   - [OneRun] audits a whole training, from records to release, with many canaries. A Claim audits
//     many trainings with and without one canary.
//
// [Neighbours] supplies worst-case neighbouring data sets and [Fuzz] searches for worse ones,
// [GoodnessOfFit] tests samplers, and [Seeded] makes a run repeatable. A run under Seeded or Replay
// is marked on its ledger: "deterministic test noise: not private".
package privacytest
