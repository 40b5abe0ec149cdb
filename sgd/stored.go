package sgd

import (
	"reflect"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// stored is a copy of a table's records in the separate memory of a device. A step then sends row
// numbers to the device, and no records.
type stored struct {
	of   *records.Table // nil for other data
	was  any            // what the data of the loop held: see held
	all  device.Matrix  // empty if they are on the host only
	own  device.Matrix  // room for a micro-batch
	list device.Sparse  // the micro-batch as sets of one row number each
	host device.Batch   // labels and row numbers
}

// store copies the records of a table to the device, unless they are there, if the network reads
// records there and if they take at most half of the memory that is left.
func (t *Trainer) store(data records.Data) {
	table, _ := data.(*records.Table)
	now := stored{of: table, was: held(data)}
	if t.stored.of == table && t.stored.was == now.was {
		return
	}
	t.stored = now
	be, spare := t.be.(interface{ Spare() int64 })
	n, dim := table.Len(), table.Schema().Dim()
	if !spare || n == 0 || t.params.Flat.Mem == nil || !ofModels(t.net) ||
		int64(n)*int64(dim) > be.Spare()/8 {
		return
	}
	all, part := t.be.New(n, dim), device.Batch{}
	for lo := 0; lo < n; lo += storedRows {
		hi := min(lo+storedRows, n)
		table.Range(lo, hi, &part)
		t.be.Upload(all.RowRange(lo, hi), part.Dense.Data)
	}
	t.stored.all, t.stored.list.Cols = all, n
}

// held returns what a pointer to records points to, since a caller can assign other records. Those
// of WithUnit and WithPart may hold such a pointer. For other types held returns nil.
func held(data records.Data) any {
	if s, ok := data.(interface{ Stated() records.Data }); ok {
		return held(s.Stated())
	}
	switch v := reflect.ValueOf(data); data.(type) {
	case *records.Table, *records.Frame, *records.SetTable, *records.Persons, *records.Linked:
		if !v.IsNil() {
			return v.Elem().Interface()
		}
	}
	return nil
}

// ofModels reports whether a network is of package models, whose networks read records in the
// memory of their device. Another type, even one that embeds such a network, may read them on the
// host.
func ofModels(net models.Network) bool {
	at := reflect.Indirect(reflect.ValueOf(net)).Type().PkgPath()
	return at == reflect.TypeFor[models.VAE]().PkgPath()
}

// storedRows is the number of records that are copied at a time.
const storedRows = 1 << 12

// gather reads the given rows on the device. The copy of a row is exact, since its sum with 0 is.
func (s *stored) gather(be device.Backend, rows []int32, b *device.Batch) {
	s.of.BeginGather(rows, &s.host)
	if n := len(rows); s.own.Rows < n {
		s.own = be.New(n+n/4, s.all.Cols)
	}
	s.list.Offsets, s.list.Items = append(s.list.Offsets[:0], 0), s.list.Items[:0]
	for i, row := range rows {
		s.list.Offsets, s.list.Items = append(s.list.Offsets, i+1), append(s.list.Items, uint32(row))
	}
	*b = s.host
	b.Dense = s.own.RowRange(0, len(rows))
	be.SparseGemm(&s.list, s.all, 0, b.Dense)
}
