// Package released lets synthetic records agree with noisy tables that were released before, for
// example by a statistical office.
//
//	tables, err := released.Read(file, gen.Schema())
//	m, err := released.Match(ctx, gen, tables, released.Settings{Seed: 1})
//	rows, err := m.Sample(60000)
//
// A [Table] states counts of the combinations of a few columns' values, and the standard deviation
// of the noise of each count. [Match] draws a pool of records from a generator of any system, and
// weights them. The weighted pool is as close as possible to the generator's distribution and to
// the tables, each according to its noise. Rows are then drawn by weight.
//
// Guarantee: matching is post-processing, because the generator and the tables have both been
// released. It costs nothing on the ledger of the records. The tables have a price of their own,
// which whoever released them paid; if they are about the same people, both prices add up.
//
// Source: Wang, Sudalairaj, Henning, Greenewald and Srivastava, "Post-processing Private Synthetic
// Data for Improving Utility on Selected Measures", NeurIPS 2023, for weights of minimal relative
// entropy. Here the tables' noise decides how closely each count is followed.
package released
