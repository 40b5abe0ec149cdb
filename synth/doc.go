// Package synth defines the common parts of all systems of the module: plans with priced stages,
// and the ledger transaction that pays for a plan. It also defines options, progress and
// checkpoints of a run, and generators with their file format.
//
//	Plan      ── Fit or FitOn: reserves every stage, then reads records, draws noise and trains
//	Generator ── released state only: Sample, Stream, Save, Guarantee
//	Systems   ── reads plans and generators of several systems back
//
// A user-defined system consists of a [Work] and a [Model]. The Work carries out the stages, and
// the Model draws synthetic records. Given a Work, [NewProgram] makes the part of a plan that all
// systems share. Package synth/synthtest tests the requirements on every system.
package synth
