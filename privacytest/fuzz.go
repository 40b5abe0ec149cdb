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
// for each value. For a set, the label is followed by one byte with the number of items and two
// bytes for each item; only the first 255 items are written.
func (g *generator) encode(rows []row) []byte {
	var raw []byte
	for _, r := range rows {
		raw = append(raw, byte(r.label))
		if g.schema.Sparse() {
			items := r.items[:min(len(r.items), math.MaxUint8)]
			raw = append(raw, byte(len(items)))
			for _, i := range items {
				raw = binary.LittleEndian.AppendUint16(raw, uint16(i))
			}
			continue
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
	for len(rows) < mostFuzzed {
		size := 4 * g.schema.Dim()
		if g.schema.Sparse() {
			if len(raw) < 2 {
				return rows
			}
			size = 1 + 2*int(raw[1])
		}
		if len(raw) < 1+size {
			return rows
		}
		rows = append(rows, g.decodeRow(raw[0], raw[1:1+size]))
		raw = raw[1+size:]
	}
	return rows
}

func (g *generator) decodeRow(label byte, body []byte) row {
	r := row{label: int32(label)}
	if g.schema.Sparse() {
		for body = body[1:]; len(body) > 0; body = body[2:] {
			r.items = append(r.items, uint32(binary.LittleEndian.Uint16(body)))
		}
		return r
	}
	for ; len(body) > 0; body = body[4:] {
		r.values = append(r.values, math.Float32frombits(binary.LittleEndian.Uint32(body)))
	}
	return r
}
