package program

import "github.com/seed7ba64551/privgen/records"

// Trusted are limits for files that the command line names: who starts the program knows them, and
// some pack better than an unknown file may.
func Trusted() records.Limits {
	return records.Limits{UnpackedBytes: 4 << 30, Values: 1 << 31}
}
