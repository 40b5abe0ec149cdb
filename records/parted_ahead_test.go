package records_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// counted is a reader that counts reads and delays them.
type counted struct {
	io.ReaderAt
	reads  *atomic.Int64
	answer time.Duration
	ends   *atomic.Bool // whether a read ends its goroutine
	breaks *atomic.Bool // whether a read returns an error
}

func (r counted) ReadAt(p []byte, at int64) (int, error) {
	r.reads.Add(1)
	time.Sleep(r.answer)
	if r.ends.Load() {
		runtime.Goexit()
	}
	if r.breaks.Load() {
		return 0, errors.New("private")
	}
	return r.ReaderAt.ReadAt(p, at)
}

// countedTable returns a table of images with labels, the same table in one part, and the reader of
// that part.
func countedTable(t testing.TB, n int, answer time.Duration) (*records.Table, *records.PartedTable,
	counted) {
	t.Helper()
	table := grey(t, n)
	array, labels := npyOf(t, table)
	c := counted{bytes.NewReader(array), new(atomic.Int64), 0, new(atomic.Bool),
		new(atomic.Bool)}
	p, err := records.NPYPart(table.Schema(), c, int64(len(array)), bytes.NewReader(labels),
		int64(len(labels)))
	if err != nil {
		t.Fatal(err)
	}
	c.reads.Store(0)
	c.answer = answer
	parted, err := records.NewPartedTable(table.Schema(), p)
	if err != nil {
		t.Fatal(err)
	}
	return table, must(parted.WithReaders(8))(t), c
}

// TestReadAheadChangesNothing: rows have the same bits whatever is read ahead, and whatever the
// number of readers. Rows that are read ahead and then requested are read only once.
func TestReadAheadChangesNothing(t *testing.T) {
	table, one, c := countedTable(t, 200, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	some := func() []int32 {
		rows := make([]int32, rng.IntN(40))
		for i := range rows {
			rows[i] = int32(rng.IntN(200))
		}
		return rows
	}
	for _, readers := range []int{0, 1, 8} {
		parted, err := one.WithReaders(readers)
		if err != nil {
			t.Fatal(err)
		}
		var a, b device.Batch
		for i := range 300 {
			rows := some()
			foretold := slices.Clone(rows)
			vain := i < 100
			if vain {
				foretold = some()
			}
			c.reads.Store(0)
			parted.ReadAhead(foretold)
			slices.Reverse(foretold) // the caller may change the list
			table.Gather(rows, &a)
			parted.Gather(rows, &b)
			same(t, "ahead", a, b)
			n := c.reads.Load()
			if !vain && int(n) > len(rows) {
				t.Fatalf("%d readers: got %d reads for %d rows", readers, n, len(rows))
			}
			if i == 99 { // wait until rows that were not requested have been read
				for quiet := 0; quiet < 10; quiet++ {
					before := c.reads.Load()
					time.Sleep(20 * time.Millisecond)
					if c.reads.Load() != before {
						quiet = 0
					}
				}
			}
		}
		if records.Failed(parted) {
			t.Error("Failed returns true")
		}
	}
	var wrong *param.Error
	if _, err := one.WithReaders(-1); !errors.As(err, &wrong) {
		t.Errorf("-1 readers: got error %v, want *param.Error", err)
	}
}

// TestReadAheadByMany: several concurrent users of one table get their own rows.
func TestReadAheadByMany(t *testing.T) {
	table, parted, _ := countedTable(t, 100, 0)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(i)))
			var a, b device.Batch
			for range 200 {
				rows := []int32{int32(rng.IntN(100)), int32(rng.IntN(100)), int32(rng.IntN(100))}
				parted.ReadAhead(rows)
				table.Gather(rows, &a)
				parted.Gather(rows, &b)
				if !slices.Equal(a.Dense.Data, b.Dense.Data) || !slices.Equal(a.Labels, b.Labels) {
					t.Error("Gather returns other rows after ReadAhead")
					return
				}
			}
		})
	}
	group.Wait()
}

// TestReadAheadThatFails: if reading ahead fails, the rows are read again when they are needed.
// Only a failure of this second read is reported.
func TestReadAheadThatFails(t *testing.T) {
	rows := []int32{3, 5, 60}
	for name, fault := range map[string]func(c counted) *atomic.Bool{
		"errors":  func(c counted) *atomic.Bool { return c.breaks },
		"Goexits": func(c counted) *atomic.Bool { return c.ends },
	} {
		table, parted, c := countedTable(t, 100, 0)
		fault(c).Store(true)
		parted.ReadAhead(rows)
		for c.reads.Load() < int64(len(rows)) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond) // the readers end
		fault(c).Store(false)
		var a, b device.Batch
		table.Gather(rows, &a)
		parted.Gather(rows, &b)
		same(t, name, a, b)
		if records.Failed(parted) {
			t.Errorf("%s: a failure is reported, although the rows could be read", name)
		}
	}
	_, parted, c := countedTable(t, 100, 0)
	c.breaks.Store(true)
	parted.ReadAhead(rows)
	if parted.Gather(rows, new(device.Batch)); !records.Failed(parted) {
		t.Error("a failure of both reads is not reported")
	}
	outside := must(parted.WithReaders(2))(t)
	outside.ReadAhead([]int32{-1, 1000}) // invalid rows; ReadAhead reports no failure
	if outside.Gather(nil, new(device.Batch)); records.Failed(outside) {
		t.Error("invalid rows that were not requested are reported as a failure")
	}
}
