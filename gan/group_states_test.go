package gan

import (
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestGroupsOfStatesHoldEachBlockOnce checks that groups in a state must contain each block exactly
// once. The total number of blocks is not enough: one block may be missing and another occur twice.
func TestGroupsOfStatesHoldEachBlockOnce(t *testing.T) {
	for name, c := range map[string]struct {
		blocks []int
		ok     bool
	}{
		"each once":                 {[]int{0, 2, 1}, true},
		"one twice, one missing":    {[]int{0, 0, 2}, false},
		"one twice":                 {[]int{0, 1, 2, 2}, false},
		"one missing":               {[]int{0, 1}, false},
		"one that there is not":     {[]int{0, 1, 3}, false},
		"one of a negative number":  {[]int{0, 1, -1}, false},
		"all, and one too many yet": {[]int{0, 1, 2, 3}, false},
	} {
		var k param.Checker
		checkGroups(&k, "groups", []sgd.Group{{Blocks: c.blocks[:1], ClipNorm: 1},
			{Blocks: c.blocks[1:], ClipNorm: 1}}, 3)
		if err := k.Err(); (err == nil) != c.ok {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
