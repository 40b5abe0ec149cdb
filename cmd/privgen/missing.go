package main

import "github.com/seed7ba64551/privgen/draft"

// usualMissing are the texts that mean a missing value in files of others. The text of a level is
// read as the level, even if it is among them. Samples are written with the first one.
var usualMissing = draft.MissingTexts()
