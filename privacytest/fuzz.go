package privacytest

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// Fuzz runs a fuzz test over neighbouring data sets of a schema. The fuzzed bytes become records
// bit by bit. So any float can occur, and also items and labels outside the schema. The seeds come
// from the records of [Neighbours]. go test runs only the seeds; go test -fuzz continues from them.
// check is typically a [Replay].
func Fuzz(f *testing.F, s records.Schema, r accountant.Relation, check func(t *testing.T, p Pair)) {
	f.Helper()
	g := generator{tb: f, schema: s, rng: newRand(1)}
	for _, base := range g.bases(3) {
		for _, odd := range g.oddities() {
			f.Add(g.encode(append(base.rows[:len(base.rows):len(base.rows)], odd.row)))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		g := generator{tb: t, schema: s, rng: newRand(1)}
		rows := g.decode(raw)
		last := len(rows) - 1
		if last < 0 {
			return
		}
		p := Pair{Name: "fuzzed", Data: g.table(rows[:last]), Neighbour: g.table(rows)}
		if r == accountant.ReplaceOne {
			p.Data = g.table(append(rows[:last:last], g.filled(0)))
		}
		check(t, p)
	})
}

// encode writes rows one after the other. A row is one byte for the label, followed by four bytes
// for each value or item. For a set, the label is followed by one byte with the number of items;
// only the first 255 items are written.
func (g *generator) encode(rows []row) []byte {
	var raw []byte
	for _, r := range rows {
		raw = append(raw, byte(r.label))
		items := r.items[:min(len(r.items), math.MaxUint8)]
		if g.schema.Sparse() {
			raw = append(raw, byte(len(items)))
		}
		for _, i := range items {
			raw = binary.LittleEndian.AppendUint32(raw, i)
		}
		for _, v := range r.values {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	}
	return raw
}

// mostFuzzed bounds the rows of a fuzzed data set. A check is then quick.
const mostFuzzed = 32

// decode reads whole rows, at most mostFuzzed of them.
func (g *generator) decode(raw []byte) []row {
	var rows []row
	for len(rows) < mostFuzzed && len(raw) > 1 {
		r, size := row{label: int32(raw[0])}, g.schema.Dim()
		if raw = raw[1:]; g.schema.Sparse() {
			size, raw = int(raw[0]), raw[1:]
		}
		if len(raw) < 4*size {
			break
		}
		for range size {
			word := binary.LittleEndian.Uint32(raw)
			if raw = raw[4:]; g.schema.Sparse() {
				r.items = append(r.items, word%(1<<16))
			} else {
				r.values = append(r.values, math.Float32frombits(word))
			}
		}
		rows = append(rows, r)
	}
	return rows
}
