// Package privacytest provides unit tests for differential privacy. It belongs in test files:
// every entry point takes a testing.TB.
//
// There are three kinds of test, from the cheapest:
//
//   - [Replay] runs a computation on a data set and records every mechanism, runs it again on a
//     neighbour with the same outputs fed back, and requires that everything outside the
//     mechanisms is the same and that no mechanism's input moved further than declared. It is
//     deterministic, takes milliseconds, and is by far the most sensitive: it finds a missing
//     clip, a scale taken from the data, a step that is skipped when a batch is empty.
//   - [Claim] draws from a black box on two neighbours and tries to refute a claimed (ε, δ), with
//     a stated probability of a false alarm. It finds wrong noise.
//   - [Canary] and [OneRun] audit whole trainings, from records to what is released: many
//     trainings with one canary, or one training with many. Canary draws what was shown next to
//     what the accountant permits.
//
// [Neighbours] supplies worst-case neighbouring data sets and [Fuzz] searches for worse ones,
// [GoodnessOfFit] tests samplers, and [Seeded] makes a run repeatable. A run under Seeded or Replay
// is marked on its ledger: "deterministic test noise: not private".
package privacytest
