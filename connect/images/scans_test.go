package images

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// progressive returns a JPEG of side × side grey pixels with many scans that change nothing.
func progressive(side, scans int) []byte {
	var b bytes.Buffer
	segment := func(marker byte, data ...byte) {
		b.Write([]byte{0xff, marker})
		_ = binary.Write(&b, binary.BigEndian, uint16(len(data)+2))
		b.Write(data)
	}
	b.Write([]byte{0xff, 0xd8})
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 1, 1, 0x11, 0)
	counts := append([]byte{1}, make([]byte, 15)...)                // one code, of one bit
	segment(0xc4, append(append([]byte{0x00}, counts...), 0)...)    // no difference
	segment(0xc4, append(append([]byte{0x10}, counts...), 0xe0)...) // a run of blocks without values
	blocks := (side / 8) * (side / 8)
	segment(0xda, 1, 1, 0, 0, 0, 0)
	b.Write(make([]byte, (blocks+7)/8))
	for range scans {
		segment(0xda, 1, 1, 0, 1, 63, 0)
		for n := blocks; n > 0; n -= 1 << 14 {
			b.Write([]byte{0, 0}) // the code and 14 bits: a run of 2^14 blocks
		}
	}
	b.Write([]byte{0xff, 0xd9})
	return b.Bytes()
}

// TestManyScans: a file of many scans becomes a record of zeros, and takes no time. A file of as
// many scans as encoders write is read.
func TestManyScans(t *testing.T) {
	const side = 1024
	s := records.Image(side, side)
	for scans, want := range map[int]string{10: "", 60_000: "a JPEG file of too many scans"} {
		begun := time.Now()
		if _, odd := decodeImage(progressive(side, scans), s); odd != want {
			t.Errorf("%d scans: got %q, want %q", scans, odd, want)
		}
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("%d scans: reading takes %v", scans, d)
		}
	}
}

// TestScansAtTheLimit counts the first scan, too: mostScans are read, and one more is not.
func TestScansAtTheLimit(t *testing.T) {
	s := records.Image(8, 8)
	for scans, want := range map[int]string{mostScans - 1: "",
		mostScans: "a JPEG file of too many scans"} {
		if _, odd := decodeImage(progressive(8, scans), s); odd != want {
			t.Errorf("%d scans: got %q, want %q", scans+1, odd, want)
		}
	}
}
