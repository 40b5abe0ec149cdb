package synth

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Keep sets the function that returns the state to store in the run's checkpoint. The state holds
// everything that the system needs to resume, and consists of released numbers and public
// randomness only. The run calls state when all earlier uses are complete and the next use is not
// yet counted in the file. It calls state again when it ends.
func (r *Run) Keep(state func() (*File, error)) {
	if r.outer != nil {
		r.outer.keep(state)
		return
	}
	if r.keeper != nil {
		r.keeper.mu.Lock()
		defer r.keeper.mu.Unlock()
		r.keeper.state = state
	}
}

// Saved returns the state from which an interrupted run resumes; nil for a new run.
func (r *Run) Saved() *File {
	if r.keeper == nil {
		return nil
	}
	if r.outer != nil {
		return r.outer.part.Saved
	}
	return r.keeper.saved
}

// A Restorer takes up the state that a function given to Keep returned.
type Restorer interface {
	// RestoreFrom replaces the state by the one in the file. Errors: ErrFormat.
	RestoreFrom(f *File) error
}

// Restore calls s.RestoreFrom with the state from which an interrupted run resumes; for a new run
// it does nothing. The linker leaves the method out of programs without checkpoints, and with it
// the code that reads JSON. A system that decodes what Saved returns is always linked with that
// code.
//
// Errors: those of s.
func (r *Run) Restore(s Restorer) error {
	f := r.Saved()
	if f == nil {
		return nil
	}
	return r.keeper.restore(s, f)
}

// Keeps reports whether the run has a checkpoint.
func (r *Run) Keeps() bool { return r.keeper != nil }

// Save writes the checkpoint now, if there is one. Systems call it to preserve results that took
// long to compute and cost no privacy.
//
// Errors: the error of writing the checkpoint.
func (r *Run) Save() error { return r.save(func() bool { return true }) }

// Tick calls Save if enough time has passed since the last write. Systems call it between steps
// that cost no privacy. Errors: see Save.
func (r *Run) Tick() error { return r.save(func() bool { return r.keeper.pace.due() }) }

func (r *Run) save(due func() bool) error {
	if r.keeper == nil {
		return nil
	}
	r.keeper.mu.Lock()
	defer r.keeper.mu.Unlock()
	if !due() {
		return nil
	}
	return r.keeper.write()
}

// Ahead makes the checkpoint count the next uses of every allowance of a stage as taken, for one or
// more rounds. The parameter each is the largest number of uses that one allowance makes in a
// round. Systems that draw concurrently call Ahead between rounds, when the state is complete.
//
// Errors: the error of writing the checkpoint.
func (r *Run) Ahead(purpose string, each int) error {
	if r.keeper == nil {
		return nil
	}
	return r.keeper.ahead(r.full(purpose), each)
}

// keeper writes a run's checkpoint.
//
// The file counts uses as taken before they are drawn, so it never counts fewer than were drawn.
// Its state was taken at a moment when all uses drawn so far were complete.
type keeper struct {
	run  *Run
	lock *durable.Lock
	path string

	// Set by openKeeper, for the reason given at options.keep.
	put     func() error                // replaceFile
	restore func(Restorer, *File) error // Restorer.RestoreFrom

	mu         sync.Mutex
	hash       string // of the plan
	id         string // of the transaction on the ledger
	nonce      string // of the file as this run last wrote or read it
	notPrivate string // why earlier runs with this file were not private
	fresh      bool   // this run created the file
	lines      []keptLine
	state      func() (*File, error)
	saved      *File               // the state in the file
	releases   map[string]*release // of stages drawn once, by purpose
	pace       pace
	closed     bool // the run is over
	unsure     bool // a write failed: the file may count fewer uses than lines do
}

// keptLine is a line of the transaction with the number of uses that the file counts as taken.
type keptLine struct {
	purpose string
	count   int
	taken   int
	once    bool                // its uses are shares of one release, each written when drawn
	classes []ledger.NoiseClass // of the noise that earlier runs with this file drew
	allowed *mechanism.Allowance
}

// noted returns the classes of the noise drawn so far.
func (l *keptLine) noted() []ledger.NoiseClass {
	if l.allowed == nil {
		return l.classes
	}
	return l.allowed.Classes()
}

// drawn returns the number of uses that have begun.
func (l *keptLine) drawn() int {
	epoch, _ := l.allowed.Event().(accountant.RandomAllocation)
	banded, _ := l.allowed.Event().(accountant.BandedSum)
	grants := max(epoch.Steps, len(banded.Band), 1) // of a use: see mechanism.Allowance.Next
	return l.count - l.allowed.Remaining()/grants
}

const checkpointKind = "checkpoint"

type checkpointHeader struct {
	Plan  string `json:"plan"`  // hash
	ID    string `json:"id"`    // of the transaction
	Nonce string `json:"nonce"` // of this state of the file
	Taken []int  `json:"taken"` // uses of each line
	Unit  string `json:"unit"`  // that the ledger protects
	// The run's ledger in a store and its last line at that time; nil for a ledger in memory.
	Ledger *ledger.Kept `json:"ledger,omitempty"`
	// The first reason why a run with this checkpoint was not private; empty if there was none.
	NotPrivate string `json:"not_private,omitempty"`
	// The noise classes of each line.
	Classes  [][]ledger.NoiseClass `json:"classes"`
	Releases []keptRelease         `json:"releases,omitempty"`
	State    json.RawMessage       `json:"state,omitempty"`
	// The number of sections of the state. The sections of the releases follow them.
	Sections int `json:"sections"`
}

// openKeeper locks the checkpoint and reads it if it exists.
//
// Errors: ErrTaken if another run uses it; ErrPlan; all errors of DecodeFile and of the file
// system.
func openKeeper(ctx context.Context, r *Run) (_ *keeper, err error) {
	k := &keeper{run: r, path: r.checkpoint, releases: map[string]*release{}}
	k.put, k.restore = k.replaceFile, Restorer.RestoreFrom
	k.pace.every, k.pace.begun = r.keepEvery, r.start
	if k.hash, err = r.program.hash(false); err != nil {
		return nil, fmt.Errorf("no checkpoint can be kept, since the plan cannot be written: %w", err)
	}
	if k.lock, err = durable.NewLock(k.path); err != nil {
		if errors.Is(err, durable.ErrLocked) {
			err = fmt.Errorf("%w: %s", ErrTaken, k.path)
		}
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if err := errors.Join(durable.RemoveTemp(k.path), k.read(ctx)); err != nil {
		err = fmt.Errorf("checkpoint %s: %w", k.path, err)
		if errors.Is(err, ErrTruncated) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrFormat) {
			err = fmt.Errorf("%w: want another name if the file is no checkpoint; if it is one, restore "+
				"it, since without it the run cannot continue, and its budget stays spent "+
				"(docs/durability.md says what to do)", err)
		}
		return nil, errors.Join(err, k.lock.Close())
	}
	return k, nil
}

// hash returns a digest of the plan's parameters and stages, which identifies the plan in its
// checkpoints. The prices of plans within the plan are not part of it, unless priced is set:
// checkpoints of former versions have these.
func (p *Program) hash(priced bool) (string, error) {
	j, err := p.parameters()
	if err == nil && !priced {
		j.Config, err = unpriced(j.Config)
	}
	if err != nil {
		return "", err
	}
	h := hashed{Plan: j, Types: p.types(), Lines: []hashedLine{}}
	t := p.transaction(true)
	for _, g := range t.Groups {
		h.Groups = append(h.Groups, g.N)
	}
	for _, line := range t.Lines {
		event, err := accountant.MarshalEvent(line.Event)
		if err != nil {
			return "", err
		}
		h.Lines = append(h.Lines, hashedLine{line.Purpose, event, line.Count, line.Group, line.Part})
	}
	text, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

type hashed struct {
	Plan   planJSON     `json:"plan"`
	Types  []string     `json:"types"`
	Groups []int        `json:"groups"`
	Lines  []hashedLine `json:"lines"`
}

type hashedLine struct {
	Purpose string          `json:"purpose"`
	Event   json.RawMessage `json:"event"`
	Count   int             `json:"count"`
	Group   int             `json:"group"`
	Part    int             `json:"part"`
}

// Typed is a Work with parts of user-defined types, such as an architecture. A checkpoint
// identifies these parts by their Go types, in addition to the configuration that Config returns.
type Typed interface {
	// Parts returns the values of user-defined types; nil values are skipped.
	Parts() []any
}

// types names the types of the parts with the paths of their packages.
func (p *Program) types() (names []string) {
	typed, ok := p.work.(Typed)
	if !ok {
		return nil
	}
	for _, part := range typed.Parts() {
		if part == nil {
			continue
		}
		t := reflect.TypeOf(part)
		base := t
		for base.Kind() == reflect.Pointer {
			base = base.Elem()
		}
		names = append(names, base.PkgPath()+" "+t.String())
	}
	return names
}

// maxCheckpoint bounds the size of a checkpoint, whose state is held in memory. No larger one is
// written. Tests lower it.
var maxCheckpoint int64 = 16 << 30

func tooLarge(size int64) error {
	return fmt.Errorf("%w: a checkpoint of %d bytes: must be at most %d", ErrFormat, size,
		maxCheckpoint)
}

func (k *keeper) read(ctx context.Context) error {
	info, err := os.Lstat(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.fresh, k.id = true, k.newID(ctx)
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it must be a regular file, but has the mode %v", fs.ErrExist, info.Mode())
	case info.Size() > maxCheckpoint:
		return tooLarge(info.Size())
	}
	in, err := os.Open(k.path)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := DecodeFile(bufio.NewReader(io.LimitReader(in, info.Size())))
	if err != nil {
		return err
	}
	if f.Kind != checkpointKind {
		return fmt.Errorf("%w: a file of kind %.40q is not a checkpoint", ErrFormat, f.Kind)
	}
	var h checkpointHeader
	if err := f.Decode(&h); err != nil {
		return err
	}
	if h.Plan != k.hash {
		if before, err := k.run.program.hash(true); err != nil || h.Plan != before {
			return ErrPlan
		}
	}
	if h.Sections < 0 || h.Sections > len(f.Sections) || h.ID == "" {
		return fmt.Errorf("%w: parts of the checkpoint are missing", ErrFormat)
	}
	k.id, k.nonce = h.ID, h.Nonce
	if unit := k.run.Ledger.Unit(); h.Unit != unit {
		return fmt.Errorf("%w: it was written for the unit %.40q, but the ledger protects %q", ErrPlan,
			h.Unit, unit)
	}
	if h.Ledger != nil { // the checkpoint was kept with a ledger in a store
		if err := k.run.Ledger.Holds(*h.Ledger); err != nil {
			return err
		}
	}
	if len(h.Classes) != len(h.Taken) {
		return fmt.Errorf("%w: noise classes of some lines are missing", ErrFormat)
	}
	for i, taken := range h.Taken {
		for _, c := range h.Classes[i] {
			if c != ledger.ExactNoise && c != ledger.RealNoise {
				return fmt.Errorf("%w: unknown noise class %.40q", ErrFormat, c)
			}
		}
		k.lines = append(k.lines, keptLine{taken: taken, classes: h.Classes[i]})
	}
	k.notPrivate = h.NotPrivate
	if h.State != nil {
		k.saved = &File{Kind: k.run.program.system, Header: h.State, Sections: f.Sections[:h.Sections]}
	}
	return k.readReleases(h.Releases, f.Sections[h.Sections:])
}

// newID returns a random ID, or a deterministic one in a test that observes the draws. Such tests
// compare whole ledgers, so the deterministic ID is a hash of the plan and the ledger's content.
// Every transaction changes this content.
func (k *keeper) newID(ctx context.Context) string {
	if !mechanism.Watched(ctx) {
		return rand.Text()
	}
	state, err := k.run.Ledger.MarshalJSON()
	if err != nil {
		return rand.Text()
	}
	sum := sha256.Sum256(append(state, k.hash...))
	return hex.EncodeToString(sum[:16])
}

// begin sets the transaction's ID and, for each line, the number of uses that the file counts as
// taken. The file exists before anything is reserved, so one run never reserves twice.
func (k *keeper) begin(t *ledger.Transaction) error {
	if k.fresh {
		k.lines = make([]keptLine, len(t.Lines))
	}
	if len(k.lines) != len(t.Lines) {
		return fmt.Errorf("checkpoint %s: %w: it counts uses of %d lines, the plan has %d", k.path,
			ErrFormat, len(k.lines), len(t.Lines))
	}
	t.ID = k.id
	for i := range t.Lines {
		line := &k.lines[i]
		line.purpose, line.count = t.Lines[i].Purpose, t.Lines[i].Count
		line.once = k.run.program.once(line.purpose)
		if line.taken < 0 || line.taken > line.count {
			return fmt.Errorf("checkpoint %s: %w: it counts %d of %d uses as taken", k.path, ErrFormat,
				line.taken, line.count)
		}
		t.Lines[i].Taken = line.taken
	}
	if k.fresh {
		if _, err := os.Lstat(k.path); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("checkpoint %s: %w", k.path, fs.ErrExist), err)
		}
		return k.put()
	}
	return nil
}

// close unlocks the file if a panic ends the run; a second close does nothing.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	_ = k.lock.Close()
}

// abandon ends a run whose reservation failed, and removes its file if the ledger refused. After
// any other error the ledger may hold the transaction. Only the file has its ID.
func (k *keeper) abandon(err error) error {
	switch {
	case !param.IsRefused(err):
		return &Interrupted{Checkpoint: k.path, Err: errors.Join(err, k.lock.Close())}
	case k.fresh:
		err = errors.Join(err, os.Remove(k.path))
	}
	return errors.Join(err, k.lock.Close())
}

// adopt stores the allowance of each line of the transaction.
func (k *keeper) adopt(allowances []*mechanism.Allowance) {
	for i, a := range allowances {
		line := &k.lines[i]
		line.allowed = a
		line.taken = max(line.taken, line.drawn())
		for _, c := range line.classes {
			a.Note(c)
		}
	}
	if k.notPrivate != "" {
		k.run.Ledger.MarkNotPrivate(k.notPrivate)
	}
}

// take makes the file count a use as taken and then takes the use. It holds one lock for both, so
// two goroutines cannot draw the same counted use.
func (k *keeper) take(i int, spend func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errOver
	}
	line := &k.lines[i]
	if k.unsure || line.drawn() >= line.taken {
		next := 1
		if !line.once {
			next = k.pace.next()
		}
		line.taken = min(line.count, line.drawn()+next)
		if err := k.write(); err != nil {
			return err
		}
	}
	return spend()
}

// errOver stops goroutines that outlive their run.
var errOver = errors.New("the run is over")

func (k *keeper) ahead(purpose string, each int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errOver
	}
	if !k.unsure && !slices.ContainsFunc(k.lines, func(l keptLine) bool {
		return l.purpose == purpose && l.taken < min(l.count, l.drawn()+each)
	}) {
		return nil
	}
	rounds := k.pace.next()
	for i := range k.lines {
		if line := &k.lines[i]; line.purpose == purpose {
			line.taken = max(line.taken, min(line.count, line.drawn()+each*rounds))
		}
	}
	return k.write()
}

// released adds one share of a release to the file.
func (k *keeper) released(purpose string, out [][]float64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.releases[purpose] == nil {
		k.releases[purpose] = &release{}
	}
	if err := k.releases[purpose].add(1, out); err != nil {
		return err
	}
	return k.write()
}

// write stores the current state and the number of uses counted as taken. The caller holds mu.
func (k *keeper) write() error {
	if k.closed {
		return errOver
	}
	k.unsure = true
	if k.state != nil {
		f, err := k.state()
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		if f != nil {
			k.saved = f
		}
	}
	err := k.put()
	k.unsure = err != nil
	return err
}

var writeFile = durable.WriteFile // tests replace it

// replaceFile writes the file anew, unless another run has changed it.
func (k *keeper) replaceFile() error {
	start := time.Now()
	if !k.fresh || k.nonce != "" {
		if err := k.mine(); err != nil {
			return err
		}
	}
	h := checkpointHeader{Plan: k.hash, ID: k.id, Nonce: rand.Text(), Unit: k.run.Ledger.Unit(),
		Ledger: k.run.Ledger.Kept(), NotPrivate: k.run.Ledger.NotPrivate()}
	for i := range k.lines {
		h.Taken = append(h.Taken, k.lines[i].taken)
		h.Classes = append(h.Classes, k.lines[i].noted())
	}
	f := &File{Kind: checkpointKind}
	if k.saved != nil {
		h.State, f.Sections = k.saved.Header, append(f.Sections, k.saved.Sections...)
		if h.State == nil {
			h.State = json.RawMessage("{}")
		}
	}
	h.Sections = len(f.Sections)
	h.Releases = k.writeReleases(f)
	var err error
	if f.Header, err = json.Marshal(h); err != nil {
		return err
	}
	size := int64(len(f.Header))
	for _, s := range f.Sections {
		size += int64(len(s.Data) + len(s.Name) + 64)
	}
	if size += 1 << 20; size > maxCheckpoint { // with more than the frame takes
		return tooLarge(size)
	}
	last := k.nonce
	k.nonce = h.Nonce
	if err := writeFile(k.path, f.Write); err != nil {
		if k.mine() != nil { // the file may be there, if its folder could not be synced
			k.nonce = last
		}
		return fmt.Errorf("checkpoint: %w", err)
	}
	k.pace.wrote(start)
	return nil
}

// mine checks that no other run has changed the file since this run last wrote or read it.
func (k *keeper) mine() error {
	info, err := os.Lstat(k.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return ErrTaken
	}
	in, err := os.Open(k.path)
	if err != nil {
		return err
	}
	defer in.Close()
	head, err := (&reader{r: in, sum: sha256.New()}).header()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTaken, err)
	}
	var h checkpointHeader
	if err := param.Decode(head.Content, &h); err != nil || h.Nonce != k.nonce {
		return ErrTaken
	}
	return nil
}

// end writes the number of uses that were really taken and unlocks the file. It does not write to
// a file that another run has taken over.
func (k *keeper) end(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !errors.Is(err, ErrTaken) {
		for i := range k.lines {
			k.lines[i].taken = k.lines[i].drawn()
		}
		if last := k.write(); err == nil {
			err = last
		}
	}
	k.closed = true
	closed := k.lock.Close()
	if err != nil && !final(err) {
		return &Interrupted{Checkpoint: k.path, Err: errors.Join(err, closed)}
	}
	return errors.Join(err, closed)
}
