// Package beam carries plans of exact sums out as pipelines of Apache Beam: the records stay where
// they are, on as many machines as the runner has, and noise is added once, by the process that
// starts the pipeline.
//
//	Job      where the records are, and how the pipeline runs
//	Fit      any plan that reads records in passes: merf, mix with Poisson samples, and Independent,
//	         Tree and MWEM of baselines
//	Mix      mixtures, whose samples are decided by the records' positions
//	Embed    the release of merf alone; with rff.Pairs these are a table's marginals
//	KMeans   one pass an iteration, the centres a side input
//	Draft    bounds and levels of a table
//	Sample   synthetic rows in parallel, to Parquet
//
// A plan is reserved on the ledger before the pipeline starts. Workers add records up in fixed
// point and seal the sums (package partial); the pipeline merges the sealed sums; the driver opens
// them, adds the noise and, for a generator, trains it. Given the same noise, what is released is
// the same bits as from the same records on one machine.
//
// # No record twice
//
// A shard's sums carry its name, so that retries, speculative execution, repeated reads and
// repeated deliveries change nothing, even on a runner that does not promise exactly one of each.
// Rows of a PCollection are first grouped into parts, in which an ID counts once.
//
// # Who sees what
//
// Workers, and the runner that moves rows between them, see records: they are within the trust
// boundary. Sums without noise leave a worker sealed. The pipeline's graph holds the public name of
// the key and not the key: [ProvideKeys] says how other processes get it. The driver opens the sums
// of all records together. For mixtures it also learns the number of records of every shard and
// class, and decides which positions a mixture holds; workers are told so under seal.
package beam
