// Package beam runs plans of exact sums as pipelines of Apache Beam. The records stay on the
// machines of the runner. The process that starts the pipeline, called the driver, adds the noise
// once.
//
//	Job      where the records are, and how the pipeline runs
//	Fit      any plan that reads records in passes: merf, mix with Poisson samples, Independent
//	         and MWEM of sets
//	Mix      mixtures, whose samples depend on the records' positions
//	Embed    only the release of merf; with rff.Pairs a table's marginals
//	KMeans   one pass for each iteration, with the centres as a side input
//	Draft    bounds and levels of a table
//	Sample   synthetic rows in parallel, to Parquet
//
// A plan is reserved on the ledger before the pipeline starts. Workers add records up in fixed
// point and seal the sums (package partial). The pipeline merges the sealed sums. The driver opens
// them, adds the noise and trains the generator, if there is one. With the same noise, a release
// has the same bits as from the same records on one machine.
//
// # No record twice
//
// A shard's sums carry its name. Retries, speculative execution, repeated reads and repeated
// deliveries therefore change nothing. This holds even on a runner that does not process every
// element exactly once. Rows of a PCollection are first grouped into parts, in which an ID counts
// once. # Access to records
//
// Workers, and the runner that moves rows between them, see records, so they must be trusted. Sums
// without noise leave a worker sealed. The pipeline's graph holds only the public name of the key;
// by [ProvideKeys] other processes get the key itself. The driver opens the sums of all records
// together. For mixtures it also learns the number of records of every shard and class, and chooses
// the positions that a mixture includes. Workers receive this choice encrypted.
package beam
