package main

// usualMissing are the texts that mean a missing value in files of others. The text of a level is
// read as the level, even if it is among them. Samples are written with the first one.
var usualMissing = []string{"", "?", "-", "--", ".", ":", `\N`, "NA", "N/A", "n/a", "n.a.", "#N/A",
	"nan", "NaN", "null", "NULL", "Null", "nil", "none", "None", "NONE", "(blank)", "<NA>"}
