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
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// counted counts reads, and answers with a delay.
type counted struct {
	io.ReaderAt
	reads  *atomic.Int64
	answer time.Duration
	ends   *atomic.Bool // the goroutine that reads
	breaks *atomic.Bool
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

// countedTable returns a table of images and labels in one part that counts.
func countedTable(t testing.TB, n int, answer time.Duration) (*records.Table, *records.PartedTable,
	counted) {
	t.Helper()
	table := grey(t, n)
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		t.Fatal(err)
	}
	c := counted{bytes.NewReader(images.Bytes()), new(atomic.Int64), 0, new(atomic.Bool),
		new(atomic.Bool)}
	p, err := records.IDXPart(table.Schema(), c, int64(images.Len()),
		bytes.NewReader(labels.Bytes()), int64(labels.Len()))
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

// TestReadAheadChangesNothing: rows have the same bits whatever was read ahead, by any number of
// readers, and rows that were announced are read once.
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
			slices.Reverse(foretold) // the list is the caller's again
			table.Gather(rows, &a)
			parted.Gather(rows, &b)
			same(t, "ahead", a, b)
			n := c.reads.Load()
			if !vain && int(n) > len(rows) {
				t.Fatalf("%d readers: %d reads of %d rows", readers, n, len(rows))
			}
			if i == 99 { // until what was announced in vain has been read
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
			t.Error("it has failed")
		}
	}
	var wrong *param.Error
	if _, err := one.WithReaders(-1); !errors.As(err, &wrong) {
		t.Errorf("-1 readers: %v", err)
	}
}

// TestReadAheadByMany: several users of one table get their own rows.
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
					t.Error("other rows")
					return
				}
			}
		})
	}
	group.Wait()
}

// TestReadAheadThatFails: rows that failed ahead of time are read again when they are needed, and
// only then is a failure reported.
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
		time.Sleep(10 * time.Millisecond) // what reads has left
		fault(c).Store(false)
		var a, b device.Batch
		table.Gather(rows, &a)
		parted.Gather(rows, &b)
		same(t, name, a, b)
		if records.Failed(parted) {
			t.Errorf("%s: reported though the rows could be read", name)
		}
	}
	_, parted, c := countedTable(t, 100, 0)
	c.breaks.Store(true)
	parted.ReadAhead(rows)
	if parted.Gather(rows, new(device.Batch)); !records.Failed(parted) {
		t.Error("rows that could not be read, twice: not reported")
	}
	outside := must(parted.WithReaders(2))(t)
	outside.ReadAhead([]int32{-1, 1000}) // a mistake of the caller's: Gather's to complain about
	if outside.Gather(nil, new(device.Batch)); records.Failed(outside) {
		t.Error("rows that nothing asked for were reported")
	}
}
