package records

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// Ahead is data that can read rows before they are asked for, beside other work.
type Ahead interface {
	Data
	// ReadAhead begins to read the rows that the next Gather will probably ask for. It copies the list
	// and returns at once. What Gather returns does not depend on it.
	ReadAhead(rows []int32)
}

// WithReaders returns the table with the number of rows that ReadAhead reads at a time. Many suit
// parts in a store that answers slowly. With 0, as [NewPartedTable] makes it, ReadAhead does
// nothing, which is right for files of this machine: to copy rows once more costs more than
// reading.
//
// Errors: *[param.Error] for a negative number or more than 4096.
func (t *PartedTable) WithReaders(n int) (*PartedTable, error) {
	if n < 0 || n > mostReaders {
		return nil, param.New("records.PartedTable.WithReaders", n, "a number from 0 to 4096")
	}
	out := &partedRows{schema: t.schema, enc: t.enc, parts: t.parts, ends: t.ends, width: t.width,
		readers: n}
	out.makeRoom()
	return &PartedTable{&partedRef{out}}, nil
}

const mostReaders = 4096

// readAhead is what a table has read, or is reading, before it is asked for.
type readAhead struct {
	mu     sync.Mutex
	coming *aheadRows                // being read, or read and not asked for
	held   atomic.Pointer[aheadRows] // whole: rows are copied from it
}

// aheadRows are rows that were read before they were asked for.
type aheadRows struct {
	rows   []int32
	batch  device.Batch
	failed atomic.Bool
	next   atomic.Int64
	wait   sync.WaitGroup
	whole  atomic.Bool // all of it has been read, or tried
}

// ReadAhead begins to read rows. While rows are still being read that an earlier call named, it
// does nothing, so that memory is bounded by two lists of rows.
func (t *PartedTable) ReadAhead(rows []int32) {
	if t == nil || t.partedRef == nil || t.readers == 0 || len(rows) == 0 {
		return
	}
	t.ahead.mu.Lock()
	defer t.ahead.mu.Unlock()
	if c := t.ahead.coming; c != nil && !c.whole.Load() {
		return
	}
	a := &aheadRows{rows: slices.Clone(rows)}
	t.begin(len(rows), &a.batch)
	t.ahead.coming = a
	for range min(t.readers, len(rows)) {
		a.wait.Go(func() { t.readSome(a) })
	}
	go func() {
		a.wait.Wait()
		a.whole.Store(true)
	}()
}

// readSome reads rows that no other reader has begun, until there are none.
func (t *partedRows) readSome(a *aheadRows) {
	finished := false
	defer func() { // a user-defined reader may end this goroutine
		if !finished {
			a.failed.Store(true)
		}
	}()
	t.each(len(a.rows), func(raw []byte) {
		part := 0
		for k := int(a.next.Add(1)) - 1; k < len(a.rows); k = int(a.next.Add(1)) - 1 {
			row := int(a.rows[k])
			if row < 0 || row >= t.ends[len(t.ends)-1] {
				a.failed.Store(true) // for Gather to complain about
				continue
			}
			part = t.partOf(row, part)
			if !t.readRow(&a.batch, k, row, part, raw) {
				a.failed.Store(true)
			}
		}
	})
	finished = true
}

// await waits for rows that are being read, if they are those that are asked for now. What failed
// ahead of time is left to Gather, which reads it again and reports it.
func (t *partedRows) await(rows []int32) {
	t.ahead.mu.Lock()
	defer t.ahead.mu.Unlock()
	a := t.ahead.coming
	if a == nil || !slices.Equal(a.rows, rows) {
		return
	}
	a.wait.Wait()
	t.ahead.coming = nil
	if a.failed.Load() {
		a = nil
	}
	t.ahead.held.Store(a)
}

// copied copies row k of a batch, number row of the table, if it has been read ahead of time.
func (a *aheadRows) copied(b *device.Batch, k int, row int32, dim int) bool {
	if a == nil || k >= len(a.rows) || a.rows[k] != row {
		return false
	}
	copy(b.Dense.Data[k*dim:(k+1)*dim], a.batch.Dense.Data[k*dim:(k+1)*dim])
	if b.Labels != nil {
		b.Labels[k] = a.batch.Labels[k]
	}
	return true
}
