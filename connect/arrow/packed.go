package arrow

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// windows returns the largest window that the body of a message asks for. A decoder of zstd
// allocates it, whatever it unpacks to. It returns 0 for other compressions.
//
// Source: RFC 8878, section 3.1.1.
func windows(description, body []byte) (most uint64, err error) {
	d := flat{bytes: description, tables: len(description) / 8}
	message := d.root()
	header := d.child(message, 2)
	switch d.byte(message, 1) {
	case 2: // a dictionary
		header = d.child(header, 1)
	case 3:
	default:
		return 0, nil
	}
	const zstandard = 1
	if packed := d.child(header, 3); packed == 0 || d.byte(packed, 0) != zstandard {
		return 0, nil
	}
	start, n := d.list(header, 2, 16)
	for i := range n {
		at := binary.LittleEndian.Uint64(description[start+16*i:])
		length := binary.LittleEndian.Uint64(description[start+16*i+8:])
		if at > uint64(len(body)) || length > uint64(len(body))-at {
			return 0, errDamaged
		}
		if b := body[at : at+length]; length >= 8 && binary.LittleEndian.Uint64(b) != 1<<64-1 {
			window, err := windowOf(b[8:]) // after the unpacked length
			if err != nil {
				return 0, err
			}
			most = max(most, window)
		}
	}
	return most, nil
}

// windowOf returns the largest window of the frames of a buffer.
func windowOf(b []byte) (most uint64, err error) {
	skip := func(n int) {
		if n > len(b) {
			b, err = nil, errDamaged
			return
		}
		b = b[n:]
	}
	for len(b) > 0 && err == nil {
		var h zstd.Header
		if h.Decode(b) != nil {
			return 0, errDamaged
		}
		if skip(h.HeaderSize); h.Skippable {
			skip(int(h.SkippableSize))
			continue
		}
		most = max(most, h.WindowSize, h.FrameContentSize)
		for last := false; !last && err == nil; {
			if len(b) < 3 {
				return 0, errDamaged
			}
			block := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
			size := block >> 3
			if last = block&1 != 0; block>>1&3 == 1 {
				size = 1 // of a byte that is repeated
			}
			skip(3 + size)
		}
		if h.HasCheckSum {
			skip(4)
		}
	}
	return most, err
}
