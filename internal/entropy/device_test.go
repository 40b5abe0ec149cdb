package entropy

import (
	"slices"
	"testing"
)

// TestStreamsForDevices: a device starts at the stream's next word, and the stream then goes on
// after the device's last one. A stream that was read in part is refused.
func TestStreamsForDevices(t *testing.T) {
	source, err := Seeded(11)
	if err != nil {
		t.Fatal(err)
	}
	if OnDevices() != (source.keys != nil) {
		t.Errorf("OnDevices() = %v, but the keys are %v", OnDevices(), source.keys)
	}
	if source.keys == nil {
		t.Skip("no vector cipher on this machine")
	}
	for buffers := range 4 {
		a, b := source.Stream(Chunked, 1, 2), source.Stream(Chunked, 1, 2)
		got, want := make([]uint64, buffers*Buffer+8), make([]uint64, buffers*Buffer+8)
		a.FillWords(make([]uint64, 8))
		b.FillWords(make([]uint64, 8))
		b.FillWords(want)
		keys, first, number := a.Counter()
		(*schedule)(keys).keystream(bytesOf(got), first, number)
		if !slices.Equal(got, want) {
			t.Fatalf("%d buffers: a device's words are not the stream's next", buffers)
		}
		if x := a.Ahead(got); *x.Schedule != keys[0] || x.Schedule != &keys[0] {
			t.Error("the words ahead have other keys")
		}
		a.Skip(buffers)
		a.FillWords(got[:8])
		if !slices.Equal(got[:8], want[buffers*Buffer:]) {
			t.Errorf("%d buffers: the stream does not go on after the device's words", buffers)
		}
		a.Fill(make([]byte, group-1)) // one byte is left
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a device gets a stream that was read in part")
				}
			}()
			a.Counter()
		}()
		if x := a.Ahead(got); x.Words != nil {
			t.Error("words are made ahead of a stream that was read in part")
		}
	}
	plain := (&Source{block: source.block}).Stream(Chunked, 1, 2)
	if x := plain.Ahead(make([]uint64, 8)); x.Words != nil {
		t.Error("words are made ahead without the vector cipher")
	}
}

// TestRenumberedRowsHaveTheirNumbersWords: nothing else depends on the numbers, and such a source
// counts as seeded.
func TestRenumberedRowsHaveTheirNumbersWords(t *testing.T) {
	plain, _ := Seeded(12)
	moved, err := Renumbered(12, func(row int) int { return row + 3 })
	if err != nil || !moved.Seeded() {
		t.Fatalf("seeded: %v, %v", moved.Seeded(), err)
	}
	if first(plain.Stream(Noise, 1, 2)) != first(moved.Stream(Noise, 1, 2)) {
		t.Error("a stream depends on the numbers of the rows")
	}
	a, b := plain.Indexed(Sampler, 4), moved.Indexed(Sampler, 4)
	for row := range 5 {
		if b.At(row) != a.At(row+3) || b.Below(9, row, 1) != a.Below(9, row+3, 1) {
			t.Errorf("row %d does not have the word of row %d", row, row+3)
		}
	}
}
