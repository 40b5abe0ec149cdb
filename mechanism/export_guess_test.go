package mechanism

// UtilityOf returns a guess's utility.
func UtilityOf(c Guess, change int) int64 { return c.utility(change) }
