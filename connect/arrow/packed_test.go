package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	aw "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
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

// TestWindowsOfAllBuffers: the window of a batch is the largest of its buffers, wherever that is
// among them.
func TestWindowsOfAllBuffers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	numbers := make([]float64, 20_000)
	for i := range numbers {
		numbers[i] = rng.Float64()
	}
	number, text := array.NewFloat64Builder(memory.DefaultAllocator),
		array.NewStringBuilder(memory.DefaultAllocator)
	number.AppendValues(numbers, nil)
	text.AppendValues(make([]string, len(numbers)), nil)
	long, short := number.NewArray(), text.NewArray()
	var want uint64
	for i, columns := range [][]aw.Array{{long}, {long, short}, {short, long}, {short, long, short}} {
		var fields []aw.Field
		for _, c := range columns {
			fields = append(fields, aw.Field{Name: "c", Type: c.DataType()})
		}
		schema := aw.NewSchema(fields, nil)
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(schema), ipc.WithZstd())
		batch := array.NewRecordBatch(schema, columns, int64(len(numbers)))
		if err := errors.Join(w.Write(batch), w.Close()); err != nil {
			t.Fatal(err)
		}
		most, m := uint64(0), &messages{r: &b}
		for length, err := m.length(); err == nil; length, err = m.length() {
			meta, _ := m.take(int64(length))
			none := memory.NewBufferBytes(nil)
			body, err := m.take(ipc.NewMessage(memory.NewBufferBytes(meta), none).BodyLen())
			if err != nil {
				t.Fatal(err)
			}
			window, err := windows(meta, body)
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, window)
		}
		if i == 0 {
			want = most
		}
		if most != want || most < 1<<10 {
			t.Errorf("columns %d: got a window of %d, want %d", i, most, want)
		}
	}
}
