package sgd

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// probe returns a hash of a product of public matrices. The hash differs between kernels that add
// in different orders.
func probe(be device.Backend) string {
	a, b, c := be.New(7, 301), be.New(301, 19), be.New(7, 19)
	for _, m := range []device.Matrix{a, b} {
		numbers := make([]float32, m.Rows*m.Cols)
		for i := range numbers {
			numbers[i] = float32(math.Sin(float64(i*i + m.Rows)))
		}
		be.Upload(m, numbers)
	}
	be.Gemm(false, false, 1, a, b, 0, c)
	be.Apply(device.Sigmoid, c, c)
	out := make([]float32, c.Rows*c.Cols)
	be.Download(out, c)
	var raw []byte
	for _, x := range out {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// probeNetwork returns a hash of the norms of the gradients that the network computes for a few
// made-up records at made-up parameters. It restores the network's parameters.
func (t *Trainer) probeNetwork(s records.Schema) (string, error) {
	b, err := madeUp(s)
	if err != nil {
		return "", err
	}
	flat := t.params.Flat
	own, other := make([]float32, t.params.Len()), make([]float32, t.params.Len())
	for i := range other {
		other[i] = float32(math.Sin(float64(3*i+1)) / 4)
	}
	t.be.Download(own, flat)
	t.be.Upload(flat, other)
	defer t.be.Upload(flat, own)
	norms := make([]float64, b.Rows)
	t.net.Gradients(b).SquaredNorms(norms)
	var raw []byte
	for _, x := range norms {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw)), nil
}

// madeUp returns five public records of a schema, with keys.
func madeUp(s records.Schema) (b device.Batch, err error) {
	const n = 5
	s = s.ByPerson(0)
	var data records.Data
	var labels []int32
	for i := range min(n*s.Classes(), n) {
		labels = append(labels, int32(i%s.Classes()))
	}
	flat := make([]float32, n*s.Dim())
	lo, hi := s.Bounds()
	lo, hi = max(lo, -1), min(hi, 1)
	for i := range flat {
		flat[i] = float32(lo + (hi-lo)*(1+math.Sin(float64(i*i)))/2)
	}
	switch {
	case s.Sparse():
		rows := make([][]uint32, n)
		for i := range rows {
			for k := range min(i+1, s.MaxItems()) {
				rows[i] = append(rows[i], uint32((7*i+k)%s.Dim()))
			}
		}
		data, err = records.FromItems(s, rows, labels...)
	case s.Kind() == records.MixedTable:
		data, err = records.DecodeFlat(s, flat, labels...)
	default:
		data, err = records.FromFlat(s, flat, labels...)
	}
	if err != nil {
		return b, err
	}
	data.Range(0, n, &b)
	for i := range n {
		b.Keys = append(b.Keys, uint64(i)*0x9e3779b97f4a7c15)
	}
	return b, nil
}

// marked is the largest number of rows that enter a fingerprint.
const marked = 64

// fingerprint returns a keyed hash of the number of rows and of some rows spread over the data.
// It reveals nothing without the key.
func fingerprint(k mechanism.Key, data records.Data) []byte {
	rows, _ := records.RowsOf(data)
	n := rows.Len()
	list := make([]int32, min(n, marked))
	for i := range list {
		list[i] = int32(i * n / len(list))
	}
	var b device.Batch
	rows.Gather(list, &b)
	h := hmac.New(sha256.New, append(k.Secret(), "privgen records"...))
	write := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(h, binary.LittleEndian, v) // of fixed sizes, to a hash: never fails
		}
	}
	write(int64(n), int64(data.Len()), b.Labels)
	if b.Sparse != nil {
		for i := range b.Rows {
			write(int64(len(b.Sparse.Row(i))), b.Sparse.Row(i))
		}
	} else {
		for i := range b.Rows {
			write(b.Dense.Row(i))
		}
	}
	return h.Sum(nil)
}

const resultAbout = "privgen result 1 "

// joinResult seals a fingerprint, binds it to the worker's sums, and returns both.
func joinResult(k mechanism.Key, mark, sums []byte) ([]byte, error) {
	sum := sha256.Sum256(sums)
	sealed, err := k.SealBytes(append([]byte(resultAbout), sum[:]...), mark)
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(sealed)))
	return append(append(out, sealed...), sums...), nil
}

// splitResult is the inverse of joinResult. Only holders of the key can have written the values
// that it returns.
func splitResult(k mechanism.Key, result []byte) (mark, sums []byte, err error) {
	if len(result) < 4 || uint64(binary.LittleEndian.Uint32(result)) > uint64(len(result)-4) {
		return nil, nil, mechanism.ErrSealed
	}
	n := 4 + int(binary.LittleEndian.Uint32(result))
	sums = result[n:]
	sum := sha256.Sum256(sums)
	mark, err = k.OpenBytes(append([]byte(resultAbout), sum[:]...), result[4:n])
	return mark, sums, err
}
