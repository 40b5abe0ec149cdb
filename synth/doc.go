// Package synth is what every system of the module has in common: a plan with its stages and their
// price, the one transaction on a ledger by which a plan is paid for, options, progress and
// checkpoints of a run, and the generator that a run releases, with its file.
//
//	Plan      ── Fit or FitOn: reserves every stage, then reads records, draws, trains
//	Generator ── released state only: Sample, Stream, Save, Guarantee
//	Systems   ── reads plans and generators of several systems back
//
// A user-defined system takes part through a [Work], which carries the stages out, and a [Model],
// which draws synthetic records: [NewProgram] makes the part of a plan that all plans share out of
// the former. Package synth/synthtest tests what is asked of every system.
package synth
