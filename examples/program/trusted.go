package program

import "github.com/seed7ba64551/privgen/records"

// Trusted returns limits for files that the command line names. The user of the program trusts
// these files. Some of them are compressed more than the limits for untrusted files allow.
func Trusted() records.Limits {
	return records.Limits{UnpackedBytes: 4 << 30, Values: 1 << 31}
}
