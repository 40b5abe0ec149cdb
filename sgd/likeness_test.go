package sgd

import (
	"bytes"
	"testing"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestFingerprints: fingerprints depend on the records, on their order and on the key, and have a
// fixed length.
func TestFingerprints(t *testing.T) {
	k := mechanism.NewKey()
	sets := records.Sets(9, 3)
	table := func(rows ...float32) records.Data {
		d, err := records.FromFlat(records.Interval(2, 0, 1), rows)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	items := func(rows ...[]uint32) records.Data {
		d, err := records.FromItems(sets, rows)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	seen := map[string]int{}
	for i, d := range []records.Data{table(), table(0, 0), table(0, 1), table(1, 0), table(1, 0, 0, 0),
		table(0, 0, 1, 0), items(), items([]uint32{1, 2}), items([]uint32{1}, []uint32{2}),
		items([]uint32{2}, []uint32{1})} {
		mark := fingerprint(k, d)
		if !bytes.Equal(mark, fingerprint(k, d)) || len(mark) != 32 {
			t.Errorf("data set %d: a fingerprint of %d bytes, want 32, the same at every call", i, len(mark))
		}
		if bytes.Equal(mark, fingerprint(mechanism.NewKey(), d)) {
			t.Errorf("data set %d: another key gives the same fingerprint", i)
		}
		if other, known := seen[string(mark)]; known && i != 6 { // empty data of both kinds are equal
			t.Errorf("data sets %d and %d have the same fingerprint", i, other)
		}
		seen[string(mark)] = i
	}
}

// TestResultsAreWhole: a result is refused if its fingerprint or its sums were changed.
func TestResultsAreWhole(t *testing.T) {
	k := mechanism.NewKey()
	one, err := joinResult(k, []byte("mark"), []byte("sums"))
	if err != nil {
		t.Fatal(err)
	}
	mark, sums, err := splitResult(k, one)
	if err != nil || string(mark) != "mark" || string(sums) != "sums" {
		t.Fatalf("%q, %q, %v", mark, sums, err)
	}
	for i := range one {
		bad := bytes.Clone(one)
		bad[i] ^= 1
		if _, _, err := splitResult(k, bad); err == nil {
			t.Errorf("a result with a changed byte %d is accepted", i)
		}
		if _, _, err := splitResult(k, one[:i]); err == nil {
			t.Errorf("a result cut to %d bytes is accepted", i)
		}
	}
	if _, _, err := splitResult(mechanism.NewKey(), one); err == nil {
		t.Error("another key opens the result")
	}
}
