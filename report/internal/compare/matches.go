package compare

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Matches counts, in each of several sets, the records that equal one of others in every column,
// including the class. It reads others once.
func Matches(others records.Data, sets ...records.Data) []int {
	seed := maphash.MakeSeed()
	met, hashes := map[uint64]bool{}, make([][]uint64, len(sets))
	var bits [1 << 16]uint64 // by the first bits of a hash: whether met may have it
	for i, d := range sets {
		eachHash(seed, d, func(h uint64) {
			hashes[i] = append(hashes[i], h)
			met[h] = false
			bits[h>>48] |= 1 << (h >> 42 % 64)
		})
	}
	eachHash(seed, others, func(h uint64) {
		if bits[h>>48]>>(h>>42%64)&1 == 1 {
			if _, known := met[h]; known {
				met[h] = true
			}
		}
	})
	counts := make([]int, len(sets))
	for i, list := range hashes {
		for _, h := range list {
			if met[h] {
				counts[i]++
			}
		}
	}
	return counts
}

// eachHash calls each with a hash of every record. Equal records have equal hashes; two different
// ones have equal hashes with probability 2^-64.
func eachHash(seed maphash.Seed, d records.Data, each func(uint64)) {
	var text []byte
	for _, b := range judge.Batches(judge.InSchema(d)) {
		for i := range b.Rows {
			text = text[:0]
			if b.Sparse != nil {
				for _, item := range b.Sparse.Row(i) {
					text = binary.LittleEndian.AppendUint32(text, item)
				}
			} else {
				for _, v := range b.Dense.Row(i) {
					text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v+0)) // -0 is 0
				}
			}
			if b.Labels != nil {
				text = binary.LittleEndian.AppendUint32(text, uint32(b.Labels[i]))
			}
			each(maphash.Bytes(seed, text))
		}
	}
}
