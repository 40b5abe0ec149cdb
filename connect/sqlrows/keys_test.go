package sqlrows

import (
	"math"
	"testing"
	"time"
)

// TestKeyText: a row is left out only if its key is null, whatever a database calls a key.
func TestKeyText(t *testing.T) {
	for _, v := range []any{true, int64(1), 1.5, "x", []byte("x"), time.Unix(0, 0)} {
		if text, ok := keyText(v); !ok || text == "" {
			t.Errorf("%T has the key %q, %v", v, text, ok)
		}
	}
	for want, numbers := range map[string][]any{"1": {int64(1), int32(1), uint64(1), 1.0, float32(1)},
		"0.1": {.1, float32(.1)}, "18446744073709551615": {uint64(math.MaxUint64)}} {
		for _, v := range numbers {
			if text, ok := keyText(v); !ok || text != want {
				t.Errorf("%T has the key %q, %v; want %q", v, text, ok, want)
			}
		}
	}
	if text, ok := keyText(nil); !ok || text != "" {
		t.Errorf("null has the key %q, %v", text, ok)
	}
	if _, ok := keyText(struct{}{}); ok {
		t.Error("a value of an unknown type is a key")
	}
}
