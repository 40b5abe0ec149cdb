package sqlrows

import (
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
	if text, ok := keyText(nil); !ok || text != "" {
		t.Errorf("null has the key %q, %v", text, ok)
	}
	if _, ok := keyText(struct{}{}); ok {
		t.Error("a value of an unknown type is a key")
	}
}
