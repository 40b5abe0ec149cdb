package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFindings checks that a reader is reported, with the right reason, if it panics or takes too
// much memory or time. A good reader is not reported.
func TestFindings(t *testing.T) {
	var sink []byte
	bad := map[string]struct {
		read func([]byte) error
		want string
	}{
		"panics":    {func([]byte) error { panic("a fault") }, "a fault"},
		"allocates": {func([]byte) error { sink = make([]byte, 2<<20); return nil }, "2 MB"},
		"is slow":   {spin, "ms for"},
		"is good":   {func([]byte) error { return errors.New("malformed") }, ""},
	}
	for name, b := range bad {
		var out bytes.Buffer
		s := suite{seed: 1, inputs: 3, out: &out,
			limits: limits{1 << 20, 20 * time.Millisecond, time.Minute}}
		s.run(t.Context(), reader{name, [][]byte{[]byte("sound")}, anyBytes, b.read})
		found := s.tallies[0].Findings
		if b.want == "" && len(found) > 0 || b.want != "" && (len(found) != 3 ||
			!strings.Contains(found[0], b.want)) {
			t.Errorf("%s: got findings %q", name, found)
		}
		if code := s.summarise(); (code != 0) != (b.want != "") {
			t.Errorf("%s: status %d", name, code)
		}
	}
	_ = sink
}

// spin keeps a processor busy for 30 ms.
func spin([]byte) error {
	for start := processorTime(); processorTime()-start < 30*time.Millisecond; {
	}
	return nil
}

// TestInputsRepeat checks that an input is determined by the seed, the reader and its number.
func TestInputsRepeat(t *testing.T) {
	r := reader{name: "a", sound: [][]byte{[]byte(`{"a":[1,2,{"b":"c"}]}`)}, change: anyDocument}
	s, other := suite{seed: 1}, suite{seed: 2}
	seen := map[string]bool{}
	for i := range uint64(200) {
		if !bytes.Equal(s.input(r, i), s.input(r, i)) {
			t.Fatalf("input %d differs from itself", i)
		}
		seen[string(s.input(r, i))], seen[string(other.input(r, i))] = true, true
	}
	if len(seen) < 250 {
		t.Errorf("got %d different inputs of 400, want at least 250", len(seen))
	}
}

// TestFilesKeepTheirChecksums checks that most changed files have a correct checksum. Otherwise
// their content would not be read.
func TestFilesKeepTheirChecksums(t *testing.T) {
	scratch, err := scratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	all, err := readers(context.Background(), scratch)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if err := r.read(r.sound[len(r.sound)-1]); err != nil {
			t.Errorf("%s: a valid input is refused: %v", r.name, err)
		}
		if !strings.HasPrefix(r.name, "generator:") {
			continue
		}
		door, rng := 0, rand.New(rand.NewPCG(1, 1))
		for range 50 {
			if err := r.read(r.change(rng, r.sound)); err != nil &&
				strings.Contains(err.Error(), "checksum") {
				door++
			}
		}
		if door > 10 {
			t.Errorf("%s: %d of 50 files have a wrong checksum", r.name, door)
		}
	}
	if len(all) < 90 {
		t.Errorf("only %d readers", len(all))
	}
}

// TestEveryReaderInShort gives a few inputs to each reader. By default the command gives each
// reader 10,000.
func TestEveryReaderInShort(t *testing.T) {
	var out bytes.Buffer
	code, err := command(t.Context(), []string{"-inputs", "5"}, &out)
	if err != nil || code != 0 {
		t.Errorf("status %d, %v:\n%s", code, err, out.String())
	}
}
