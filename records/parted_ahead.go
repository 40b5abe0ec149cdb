package records

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Ahead is data that can read rows before they are needed, concurrently with other work.
type Ahead interface {
	Data
	// ReadAhead begins to read the rows that the next Gather will probably read. It copies the list
	// and returns at once. It does not affect what Gather returns.
	ReadAhead(rows []int32)
}

// WithReaders returns the table with the given number of rows that ReadAhead reads concurrently. A
// large number suits parts in a slow store. With 0, the default of [NewPartedTable], ReadAhead does
// nothing. That suits local files, because the additional copy of the rows would cost more than
// reading them.
//
// Errors: *[param.Error] for a negative number or more than 4096.
func (t *PartedTable) WithReaders(n int) (*PartedTable, error) {
	if n < 0 || n > mostReaders {
		return nil, param.New("records.PartedTable.WithReaders", n, "a number from 0 to 4096")
	}
	out := &partedRows{schema: t.schema, enc: t.enc, parts: t.parts, ends: t.ends, width: t.width,
		readers: n}
	out.makeRoom()
	return &PartedTable{partedRef: &partedRef{out}}, nil
}

const mostReaders = 4096

// readAhead holds the rows that a table has read, or is reading, before they are needed.
type readAhead struct {
	mu     sync.Mutex
	coming *aheadRows                // being read, or read and not used yet
	held   atomic.Pointer[aheadRows] // completely read: rows are copied from it
}

// aheadRows holds rows that are read before they are needed.
type aheadRows struct {
	rows   []int32
	batch  device.Batch
	failed atomic.Bool
	next   atomic.Int64
	wait   sync.WaitGroup
	whole  atomic.Bool // whether reading has been tried for all rows
}

// ReadAhead begins to read rows. It does nothing while rows of an earlier call are still being
// read, so at most two lists of rows are in memory.
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

// readSome reads rows that no other goroutine has begun, until there are none left.
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
				a.failed.Store(true) // Gather reports it
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

// await waits for the rows that are being read ahead if they are the requested rows. If reading
// ahead failed, Gather reads the rows again and reports the failure.
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

// copied copies row number row of the table to row k of a batch if that row has been read ahead,
// and reports whether it did.
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
