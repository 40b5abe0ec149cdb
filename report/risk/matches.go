package risk

import (
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Matches counts the records of one set that equal a record of the other in every column, including
// the class. The count proves nothing; see the package.
//
// Errors: *[param.Error] for records of different schemas.
// Guarantee: none; see the package.
func Matches(some, others records.Data) (int, error) {
	if err := compare.Alike("risk.Matches", others, some); err != nil {
		return 0, err
	}
	seed := maphash.MakeSeed()
	met := make(map[uint64]bool, some.Len())
	hashes := make([]uint64, 0, some.Len())
	eachHash(seed, some, func(h uint64) {
		hashes = append(hashes, h)
		met[h] = false
	})
	eachHash(seed, others, func(h uint64) {
		if _, known := met[h]; known {
			met[h] = true
		}
	})
	count := 0
	for _, h := range hashes {
		if met[h] {
			count++
		}
	}
	return count, nil
}

// eachHash calls each with a hash of every record. Equal records have equal hashes; two different
// ones have equal hashes with probability 2^-64.
func eachHash(seed maphash.Seed, d records.Data, each func(uint64)) {
	const chunk = 1024
	var b device.Batch
	var text []byte
	d = judge.InSchema(d)
	for lo := 0; lo < d.Len(); lo += chunk {
		d.Range(lo, min(lo+chunk, d.Len()), &b)
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
