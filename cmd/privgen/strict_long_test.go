package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestEndlessLinesAreFaults: a line that is far longer than a record may be is a fault of the file.
// The reader's own error for it, which says that a buffer is full, made commands read for ever.
func TestEndlessLinesAreFaults(t *testing.T) {
	for _, n := range []int{mostRecord + 1, 2 * mostRecord} {
		text := "a,b\n1," + strings.Repeat("x", n) + "\n"
		_, err := io.ReadAll(newStrict(bufio.NewReader(strings.NewReader(text)), ',', 0, 0))
		if is := (*fault)(nil); !errors.As(err, &is) {
			t.Errorf("a line of %d bytes: %v, want a fault", n, err)
		}
	}
}
