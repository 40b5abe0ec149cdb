package arrow

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestWindows reads the windows of frames of every form, of several in one buffer, and of none, and
// refuses frames that are cut off anywhere but between two of them.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rng.IntN(256))
	}
	// one is a frame of unknown length, as a stream is written; known states its length
	one := func(window int, checksum bool, content []byte) []byte {
		var out bytes.Buffer
		w, err := zstd.NewWriter(&out, zstd.WithWindowSize(window), zstd.WithEncoderCRC(checksum))
		if err != nil {
			t.Fatal(err)
		}
		for len(content) > 0 { // in pieces, so that the length is not known
			n := min(len(content), 1<<16)
			if _, err := w.Write(content[:n]); err != nil || w.Flush() != nil {
				t.Fatal(err)
			}
			content = content[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	known := func(content []byte) []byte {
		w, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(content, nil)
	}
	skipped := append([]byte{0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0}, "notes"...)
	small, large := one(1<<15, true, noise), one(1<<21, false, noise)
	for what, c := range map[string]struct {
		frames []([]byte)
		want   uint64
	}{
		"nothing": {nil, 0}, "small": {[][]byte{small}, 1 << 15}, "large": {[][]byte{large}, 1 << 21},
		"both": {[][]byte{small, large}, 1 << 21}, "turned": {[][]byte{large, small}, 1 << 21},
		"a stated length":      {[][]byte{known(noise)}, uint64(len(noise))},
		"skipped":              {[][]byte{skipped, small, skipped}, 1 << 15},
		"a repeated byte":      {[][]byte{one(1<<15, true, make([]byte, 200_000)), small}, 1 << 15},
		"a repeated byte last": {[][]byte{known(make([]byte, 200_000)), large}, 1 << 21},
	} {
		b := bytes.Join(c.frames, nil)
		if got, err := windowOf(b); err != nil || got != c.want {
			t.Errorf("%s: got a window of %d, %v, want %d", what, got, err, c.want)
		}
		between := map[int]bool{0: true}
		for at, i := 0, 0; i < len(c.frames); i++ {
			at += len(c.frames[i])
			between[at] = true
		}
		for n := 0; n < len(b); n += 1 + n/50 {
			if _, err := windowOf(b[:n]); (err == nil) != between[n] {
				t.Errorf("%s, cut off after %d of %d bytes: %v", what, n, len(b), err)
			}
		}
	}
	if _, err := windowOf([]byte("no frame at all, whatever it is")); err == nil {
		t.Error("a buffer of another format is read")
	}
}

// TestVariadicCounts: a batch whose columns of texts state more buffers than it has is refused.
func TestVariadicCounts(t *testing.T) {
	batch := func(buffers int, counts ...uint64) []byte {
		// a table whose entries 2 and 4 are lists: its layout, itself, and the lists
		b := make([]byte, 4+14+4+8)
		layout, table := 4, 18
		binary.LittleEndian.PutUint16(b[layout:], 14)
		binary.LittleEndian.PutUint16(b[layout+4+2*2:], 4)
		binary.LittleEndian.PutUint16(b[layout+4+2*4:], 8)
		binary.LittleEndian.PutUint32(b[table:], uint32(table-layout))
		binary.LittleEndian.PutUint32(b[table+4:], uint32(len(b)-table-4))
		b = binary.LittleEndian.AppendUint32(b, uint32(buffers))
		b = append(b, make([]byte, 16*buffers)...)
		binary.LittleEndian.PutUint32(b[table+8:], uint32(len(b)-table-8))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(counts)))
		for _, n := range counts {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		return b
	}
	for _, c := range []struct {
		buffers int
		counts  []uint64
		good    bool
	}{{3, nil, true}, {3, []uint64{3}, true}, {3, []uint64{0, 3}, true}, {3, []uint64{4}, false},
		{3, []uint64{1, 4}, false}, {3, []uint64{1, 1 << 63, 1}, false}, {0, []uint64{1}, false}} {
		d := flat{bytes: batch(c.buffers, c.counts...), tables: 9}
		if d.batch(18); d.wrong == c.good {
			t.Errorf("%d buffers, counts %v: wrong %t", c.buffers, c.counts, d.wrong)
		}
	}
}
