package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// simulated is a machine with a disk. Every process sees every write at once. Only synced data
// outlast a power failure. The disk counts the operations that change something, and fails from a
// chosen operation on.
type simulated struct {
	mu     sync.Mutex
	names  map[string]*inode // as processes see them
	synced map[string]*inode // as they are after a power failure
	ops    int
	failAt int // from this operation on, every operation fails; 0 for never
	err    error
	room   int // the most bytes that a file may have; 0 for any number
	sector int // the bytes that the disk writes in one piece; 0 for 512
}

type inode struct {
	content []byte
	durable []byte
}

func newSimulated() *simulated {
	return &simulated{names: map[string]*inode{}, synced: map[string]*inode{}, err: errPower}
}

var (
	errPower = errors.New("the power has failed")
	errFull  = errors.New("no space left on device")
)

// next counts an operation; the caller holds mu.
func (d *simulated) next() error {
	d.ops++
	if d.failAt > 0 && d.ops >= d.failAt {
		return d.err
	}
	return nil
}

// restart returns the disk after a power failure. If keep is nil, all sectors that were not synced
// are lost. Otherwise keep decides for each of these sectors whether it is lost.
func (d *simulated) restart(keep *rand.Rand) *simulated {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := newSimulated()
	names := maps.Clone(d.synced)
	if keep != nil && keep.IntN(2) == 0 {
		names = maps.Clone(d.names)
	}
	for name, f := range names {
		b := bytes.Clone(f.durable)
		if keep != nil {
			b = torn(f.durable, f.content, keep, cmp.Or(d.sector, 512))
		}
		out.names[name] = &inode{content: b, durable: bytes.Clone(b)}
	}
	out.synced = maps.Clone(out.names)
	return out
}

// torn mixes two states of a file, sector by sector.
func torn(durable, content []byte, keep *rand.Rand, sector int) []byte {
	size := len(durable)
	if keep.IntN(2) == 0 {
		size = len(content)
	}
	out := make([]byte, size) // a file that grew without a write has zeros there
	copy(out, durable)
	for at := 0; at < min(size, len(content)); at += sector {
		if keep.IntN(2) == 0 {
			end := min(at+sector, size, len(content))
			copy(out[at:end], content[at:end])
		}
	}
	return out
}

func (d *simulated) Open(path string, write, create bool) (diskFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[path]
	if f == nil {
		if !create {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		if err := d.next(); err != nil {
			return nil, err
		}
		f = &inode{}
		d.names[path] = f
	}
	return &simulatedFile{d, f}, nil
}

func (d *simulated) Replace(path string, content func(io.Writer) error) error {
	var b bytes.Buffer
	if err := content(&b); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for range 2 { // the content, and its sync
		if err := d.next(); err != nil {
			return err
		}
	}
	if err := d.next(); err != nil {
		return err
	}
	d.names[path] = &inode{content: b.Bytes(), durable: bytes.Clone(b.Bytes())}
	if err := d.next(); err != nil {
		return err
	}
	d.synced[path] = d.names[path]
	return nil
}

// MakeFolder makes the folder of the lock, which is a real folder.
func (d *simulated) MakeFolder(path string) error { return os.MkdirAll(path, 0o700) }

func (d *simulated) SyncFolder(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.next(); err != nil {
		return err
	}
	d.synced = maps.Clone(d.names)
	return nil
}

type simulatedFile struct {
	disk *simulated
	node *inode
}

func (f *simulatedFile) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return bytes.NewReader(f.node.content).ReadAt(b, at)
}

func (f *simulatedFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.next(); err != nil {
		return 0, err
	}
	n := len(b)
	if room := f.disk.room; room > 0 && int(at)+n > max(room, len(f.node.content)) {
		n = max(0, max(room, len(f.node.content))-int(at))
	}
	if need := int(at) + n; need > len(f.node.content) {
		f.node.content = append(f.node.content, make([]byte, need-len(f.node.content))...)
	}
	copy(f.node.content[at:], b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func (f *simulatedFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.next(); err != nil {
		return err
	}
	f.node.content = append(bytes.Clone(f.node.content), make([]byte, size)...)[:size]
	return nil
}

func (f *simulatedFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.next(); err != nil {
		return err
	}
	f.node.durable = bytes.Clone(f.node.content)
	return nil
}

func (f *simulatedFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.node.content)), nil
}

func (f *simulatedFile) Current(path string) (bool, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.names[path] == f.node, nil
}

func (f *simulatedFile) Close() error { return nil }

// answers holds the answers of a ledger before the power failed.
type answers struct{ reserved, drawn map[string]int }

var cheap = accountant.Gaussian{NoiseMultiplier: 100}

var testTerms = Terms{Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
	Limits: []Limit{{Epsilon: 2.9, Window: 1e12}}}

// life uses two handles of one ledger until the store fails, and notes every answer.
func life(s *Store, said answers) error {
	ctx := context.Background()
	a, err := s.Create(ctx, "people", testTerms)
	if errors.Is(err, ErrExists) {
		a, err = s.Open(ctx, "people")
	}
	if err != nil {
		return err
	}
	b, err := s.Open(ctx, "people")
	if err != nil {
		return err
	}
	for i := range 6 {
		for k, l := range []*Ledger{a, b} {
			purpose := fmt.Sprint("purpose ", (i+k)%3)
			r, err := l.Reserve(purpose, cheap, 3)
			if err != nil {
				return err
			}
			said.reserved[purpose] += 3
			for range 2 {
				if err := r.Spend(); err != nil {
					return err
				}
				said.drawn[purpose]++
			}
			r.Note(ExactNoise)
			all, err := l.ReserveAll(Transaction{ID: fmt.Sprint(i, k), Lines: []Line{
				{Purpose: "run", Event: cheap, Count: 2}}})
			if err != nil {
				return err
			}
			said.reserved["run"] += 2
			if err := all[0].Spend(); err != nil {
				return err
			}
			said.drawn["run"]++
		}
		if i%2 == 1 {
			if err := a.Compact(); err != nil {
				return err
			}
		}
	}
	return nil
}

func newAnswers() answers { return answers{map[string]int{}, map[string]int{}} }

// check opens the ledger again and compares it with the answers.
func (said answers) check(t *testing.T, s *Store, what string) {
	t.Helper()
	l, err := s.Open(t.Context(), "people")
	if errors.Is(err, ErrNotFound) && len(said.reserved) == 0 {
		return
	}
	if err != nil {
		t.Errorf("%s: %v, after %v", what, err, said)
		return
	}
	reserved, spent := map[string]int{}, map[string]int{}
	for _, e := range l.Entries() {
		reserved[e.Purpose] += e.Reserved
		spent[e.Purpose] += e.Spent
	}
	for purpose, n := range said.reserved {
		if reserved[purpose] < n || spent[purpose] < said.drawn[purpose] {
			t.Errorf("%s: %s: answered %d reserved and %d drawn, the ledger has %d and %d", what, purpose, n,
				said.drawn[purpose], reserved[purpose], spent[purpose])
		}
	}
	if err := l.Spend("afterwards", cheap); err != nil {
		t.Errorf("%s: the ledger cannot be used further: %v", what, err)
	}
}

// TestPowerFailure cuts the power at every operation, and drops all or some of the sectors that
// were not synced. It compares the rest with the answers. Half of the disks write an
// eighth of a slot of the mark in one piece, so that a slot may be torn.
func TestPowerFailure(t *testing.T) {
	whole := newSimulated()
	if err := life(simulatedStore(t, whole), newAnswers()); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= whole.ops; at++ {
		disk := newSimulated()
		disk.failAt = at
		said := newAnswers()
		if err := life(simulatedStore(t, disk), said); !errors.Is(err, errPower) {
			t.Fatalf("the power fails at operation %d of %d: got %v, want errPower", at, whole.ops, err)
		}
		said.check(t, simulatedStore(t, disk.restart(nil)), fmt.Sprint("operation ", at))
		for seed := range uint64(2) {
			rng := rand.New(rand.NewPCG(uint64(at), seed))
			disk.sector = 512 >> (3 * (seed % 2))
			what := fmt.Sprint("operation ", at, ", seed ", seed)
			said.check(t, simulatedStore(t, disk.restart(rng)), what)
		}
	}
	t.Logf("%d operations", whole.ops)
}

var lockFolders sync.Map // from the name of a test to its folder

func lockFolder(t *testing.T) string {
	folder, ok := lockFolders.Load(t.Name())
	if !ok {
		folder = t.TempDir()
		lockFolders.Store(t.Name(), folder)
	}
	return folder.(string)
}

// simulatedStore returns a store on the simulated disk. Its locks are in a real folder of the test.
func simulatedStore(t *testing.T, d *simulated) *Store {
	folder := filepath.Join(lockFolder(t), "locks")
	if err := os.MkdirAll(filepath.Join(folder, "people"), 0o700); err != nil {
		t.Fatal(err)
	}
	return NewStore(&dir{folder: folder, disk: d})
}

// TestFailedOperation lets operations fail for some reason until they work again. A failing
// operation must return an error. Every other answer, before or after the failure, must count.
func TestFailedOperation(t *testing.T) {
	for _, mode := range []string{"once", "full"} {
		whole := newSimulated()
		if err := life(simulatedStore(t, whole), newAnswers()); err != nil {
			t.Fatal(err)
		}
		for at := 20; at <= whole.ops; at += 6 {
			why := []error{errPower, fs.ErrPermission, syscall.EROFS, syscall.EIO}[at/2%4]
			disk := newSimulated()
			said := newAnswers()
			s := simulatedStore(t, disk)
			switch mode {
			case "once":
				disk.failAt, disk.err = at, why
			case "full":
				disk.room = 40 * at
			}
			err := life(s, said)
			if err == nil && mode == "full" {
				continue
			}
			if !errors.Is(err, why) && !errors.Is(err, errFull) {
				t.Fatalf("%s at %d: got %v, which is not the cause", mode, at, err)
			}
			disk.failAt, disk.room = 0, 0
			said.check(t, s, fmt.Sprint(mode, " at ", at))
			said.check(t, simulatedStore(t, disk.restart(nil)), fmt.Sprint(mode, " at ", at, ", restarted"))
		}
	}
}

// TestReadLinesAreDurable: a killed process may have written a line without a sync. The line is
// made durable before it is handed out, because noise may be drawn under it.
func TestReadLinesAreDurable(t *testing.T) {
	disk := newSimulated()
	s := simulatedStore(t, disk)
	l, err := s.Create(t.Context(), "people", testTerms)
	if err != nil {
		t.Fatal(err)
	}
	disk.failAt = disk.ops + 2 // the write works, the sync does not
	if err := l.Spend("count", cheap); !errors.Is(err, errPower) {
		t.Fatal(err)
	}
	disk.failAt = 0
	other, err := s.Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	if len(other.Entries()) == 0 {
		t.Fatal("the line is not there: the test shows nothing")
	}
	after, err := simulatedStore(t, disk.restart(nil)).Open(t.Context(), "people")
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Entries()) == 0 {
		t.Error("a line that was handed out is lost in a power failure")
	}
}

// TestSyncs counts the syncs that a durable reservation waits for.
func TestSyncs(t *testing.T) {
	disk := &counting{simulated: newSimulated()}
	s := NewStore(&dir{folder: t.TempDir(), disk: disk})
	l, err := s.Create(t.Context(), "people", testTerms)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []func() error{
		func() error { return l.Spend("count", cheap) },
		func() error { _, err := l.Reserve("count", cheap, 7); return err },
		func() error {
			_, err := l.ReserveAll(Transaction{ID: "x", Lines: []Line{
				{Purpose: "run", Event: cheap, Count: 2}, {Purpose: "run 2", Event: cheap, Count: 2}}})
			return err
		},
	} {
		disk.syncs = 0
		if err := op(); err != nil {
			t.Fatal(err)
		}
		if disk.syncs == 0 || disk.syncs > 2 {
			t.Errorf("%d syncs for one answer, want 1 or 2", disk.syncs)
		}
	}
}

type counting struct {
	*simulated
	syncs int
}

func (d *counting) Open(path string, write, create bool) (diskFile, error) {
	f, err := d.simulated.Open(path, write, create)
	if err != nil {
		return nil, err
	}
	return countingFile{f.(*simulatedFile), d}, nil
}

type countingFile struct {
	*simulatedFile
	counter *counting
}

func (f countingFile) Sync() error { f.counter.syncs++; return f.simulatedFile.Sync() }

// TestLinesMadeMeanwhile: another process makes a journal after this one has looked for its lines,
// and before it reads the mark.
func TestLinesMadeMeanwhile(t *testing.T) {
	disk := &late{simulated: newSimulated()}
	s := NewStore(&dir{folder: t.TempDir(), disk: disk})
	l, err := s.Create(t.Context(), "people", testTerms)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Spend("count", cheap); err != nil {
		t.Fatal(err)
	}
	disk.late = true
	other, err := s.Open(t.Context(), "people")
	if err != nil || len(other.Entries()) != 1 {
		t.Errorf("got %v, want the ledger", err)
	}
	if disk.late {
		t.Error("no file was looked for")
	}
}

// late is a disk on which the next journal to be opened is not there yet.
type late struct {
	*simulated
	late bool
}

func (d *late) Open(path string, write, create bool) (diskFile, error) {
	if d.late && filepath.Base(path) == journalFile {
		d.late = false
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return d.simulated.Open(path, write, create)
}
