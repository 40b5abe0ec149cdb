// Package synth defines what all systems of the module share: plans with priced stages, the ledger
// transaction that pays for a plan, options, progress and checkpoints of a run, and generators
// with their file format.
//
//	Plan      ── Fit or FitOn: reserves every stage, then reads records, draws, trains
//	Generator ── released state only: Sample, Stream, Save, Guarantee
//	Systems   ── reads plans and generators of several systems back
//
// A user-defined system takes part through a [Work], which carries the stages out, and a [Model],
// which draws synthetic records: [NewProgram] makes the shared part of a plan from a Work. Package
// synth/synthtest tests the requirements on every system.
package synth
