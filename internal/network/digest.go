package network

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Digest returns a SHA-256 sum that identifies public records. It covers the number of records and
// every record in the form that training reads. Digest returns "" for none.
func Digest(public records.Public) string {
	if public.Data() == nil {
		return ""
	}
	sum := sha256.New()
	number := func(n int) { _, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	data := records.Clamped(public.Data())
	number(data.Len())
	_ = EachBatch(context.Background(), data, 1024, func(_ int, b device.Batch) {
		for i := range b.Rows {
			if b.Sparse == nil {
				_, _ = sum.Write(synth.Floats(b.Dense.Row(i)))
			} else {
				number(len(b.Sparse.Row(i)))
				for _, item := range b.Sparse.Row(i) {
					number(int(item))
				}
			}
			if b.Labels != nil {
				number(int(b.Labels[i]))
			}
		}
	})
	return hex.EncodeToString(sum.Sum(nil))
}
