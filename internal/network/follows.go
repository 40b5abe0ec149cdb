package network

import (
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/synth"
)

// CheckFollows returns an error if a plan needs the records of an earlier system but runs without
// this system.
//
// Errors: *param.Error.
func CheckFollows(path string, follows bool, r *synth.Run) error {
	if follows && !r.Follows() {
		return param.New(path, true, "false, unless the plan is the later part of a sequence")
	}
	return nil
}
