package report

// Names for tests of the page.
var (
	Number4 = number4
	Percent = percent
	None    = none
	CurveOf = curveOf
	Rates   = rates
	Words   = words
)
