// Package compose makes systems of systems:
//
//   - [Ranks] fits a system to the ranks of a table's numbers.
//   - [Pool] runs several systems, and draws records from all of them.
//   - [Labels] chooses among the records of a system by a private classifier.
//   - [Changes] changes the images of a system in the way that a private measurement prefers.
//   - [Levels] finds the levels of columns whose levels nobody can declare.
//   - [Linked] fits tables whose rows belong to each other, and draws them from the root down.
//
// Each is a [synth.Design] made of designs, so compositions can be parts of compositions:
//
//	plan, err := compose.Labels{Of: merf.Config{Nominal: n}, Nominal: n}.PlanFor(schema, budget)
//	fmt.Println(plan)
//	gen, err := plan.Fit(ctx, images)
//
// Every composition divides its budget: its own releases get their share, and the parts get what is
// left, to within half a per cent of the whole. [Fixed] is a part that keeps a budget of its own.
//
// Guarantee: the composition's own stages and the stages of all parts are reserved on the ledger in
// one transaction before the first draw, and composed at the δ of the whole budget. All parts must
// have the relation of the whole. A part depends on the records only through its own releases, and
// through what the composition has released before. A checkpoint holds the states of the
// composition and of all its parts.
//
// A composition can contain those that stand before it in the list above, but Linked contains no
// Levels. So files nest no deeper than the list is long.
package compose
