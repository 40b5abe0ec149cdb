package released_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/released"
	"github.com/seed7ba64551/privgen/records"
)

// TestSmallFilesCostLittle reads files that state much more than they hold, and a whole table of
// many levels. What is allocated in all must be at most 64 MB.
func TestSmallFilesCostLittle(t *testing.T) {
	levels := make([]string, 30_000)
	for i := range levels {
		levels[i] = fmt.Sprintf("level %d", i)
	}
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Numeric("y", 0, 1),
		records.Categorical("zip", levels...))
	if err != nil {
		t.Fatal(err)
	}
	one := `{"columns":["zip"],"values":[["level 1"]],"counts":[1],"std":1}`
	shape := `,"shape":[4194304,4194304,4194304,4194304],"counts":[1],"std":1}`
	bare := `{"columns":["zip"],"counts":[1],"std":1}` // levels without counts
	for text, good := range map[string]bool{
		"[" + bare + strings.Repeat(","+bare, 255) + "]":           false,
		`{"columns":["x"],"shape":[4194304],"counts":[1],"std":1}`: false,
		`{"columns":["x","x","x","x"]` + shape:                     false,
		`{"columns":["x","y"],"shape":[2048,2048],"counts":[1` + strings.Repeat(",1", 2047) +
			`],"std":1}`: false,
		`{"columns":["zip"],"counts":[1],"std":1}`:                                             false,
		`{"columns":["zip"],"counts":[1` + strings.Repeat(",1", len(levels)-1) + `],"std":1}`:  true,
		strings.Repeat(",", 500_000) + "count,std\n" + strings.Repeat(",", 300_000) + "1,1\n":  false,
		"[" + strings.Repeat("{},", 300_000) + "{}]":                                           false,
		`{"tables":[` + strings.Repeat("{},", 300_000) + "{}]}":                                false,
		`{"columns":["x"` + strings.Repeat(`,"x"`, 200_000) + `],"counts":[1],"std":1}`:        false,
		`{"columns":["x"],"values":[[""` + strings.Repeat(`,""`, 200_000) + `]],"counts":[1]}`: false,
		"[" + one + strings.Repeat(","+one, 99) + "]":                                          true,
		"[" + one + strings.Repeat(","+one, 199) + "]":                                         false,
		"x,count,std\n" + strings.Repeat("0,1,1\n", 150_000):                                   false,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := released.Read(strings.NewReader(text), s)
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 64 {
			t.Errorf("%.60s…: %d MB for %d bytes", text, got, len(text))
		}
		if good != (err == nil) || !good && !errors.Is(err, released.ErrFormat) {
			t.Errorf("%.60s…: %.200v", text, err)
		}
	}
}
