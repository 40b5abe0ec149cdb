package judge

// Mark and Caveat are part of every result.
const (
	Mark   = "[not private] "
	Caveat = "computed from real records; covered by no ε"
)
