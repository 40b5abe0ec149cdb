package accountant

// partGroup is a set of child ledgers, one for each disjoint part of the records.
type partGroup struct {
	purpose  string
	children []*Ledger
}
