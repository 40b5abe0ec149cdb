package mechanism_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/mechanism"
)

// TestSumsWithoutNoisePrintAsPrivate: sums print as [private] under every verb, and as fields of
// other structs they do not print their numbers.
func TestSumsWithoutNoisePrintAsPrivate(t *testing.T) {
	const telling = "471147114711" // too long to occur in an address by chance
	sum := mechanism.NewFixedSum(1, 1)
	sum.AddInt(0, 471147114711)
	counts := must(mechanism.NewNormHistogram(0, 10, 3))(t)
	for range 4711 {
		counts.Add(1)
	}
	for _, v := range []any{sum, *sum, counts, *counts} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		text, _ := json.Marshal(v)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			if out := fmt.Sprintf(verb, v); out != "[private]" {
				t.Errorf("%T under %s: %s", v, verb, out)
			}
		}
		if string(text) != `"[private]"` || !strings.Contains(log.String(), `"v":"[private]"`) {
			t.Errorf("%T: %s, %s", v, text, log.String())
		}
	}
	type job struct{ sum *mechanism.FixedSum }
	if out := fmt.Sprintf("%v %+v %#v %v", job{sum}, job{sum}, &job{sum},
		[]any{job{sum}}); strings.Contains(out, telling) {
		t.Errorf("a field prints its numbers: %s", out)
	}
}
