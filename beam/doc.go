// Package beam carries plans of exact sums out as pipelines of Apache Beam: the records stay where
// they are, on as many machines as the runner has, and noise is added once, by the process that
// starts the pipeline.
//
//	Job      where the records are, and how the pipeline runs
//	Fit      any plan that reads records in passes: merf, and Independent, Tree and MWEM of baselines
//	Embed    the release of merf alone; with rff.Pairs these are a table's marginals
//	KMeans   one pass an iteration, the centres a side input
//	Draft    bounds and levels of a table
//	Sample   synthetic rows in parallel, to Parquet
//
// A plan is reserved on the ledger before the pipeline starts. Workers add records up in fixed
// point and seal what they have (package partial); the pipeline merges the sealed sums; the driver
// opens them, adds the noise and, for a generator, trains it. What is released is the same bits as
// that of the same records on one machine, given the same noise.
//
// # No record twice
//
// A shard's sums carry its name, so that retries, speculative execution, repeated reads and
// deliveries change nothing, also on a runner that promises less than exactly one of each. Rows of
// a PCollection are grouped into parts first, where a row's ID counts once.
//
// # Who sees what
//
// Workers, and the runner that moves rows between them, see records: they are within the trust
// boundary. Sums without noise leave a worker sealed under a key that the pipeline's graph does not
// hold, only its public name: [ProvideKeys] says how other processes come by it.
package beam
