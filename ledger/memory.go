package ledger

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// Memory returns a store that keeps its ledgers in memory. It is for tests, and an example of a
// backend. The ledgers end with the process.
func Memory() *Store { return NewStore(&memory{journals: map[string]*memoryLines{}}) }

type memory struct {
	mu       sync.Mutex
	journals map[string]*memoryLines
}

func (m *memory) Journal(_ context.Context, name string, mode Mode) (Journal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := m.journals[name]
	if lines == nil {
		if mode != Create {
			return nil, ErrNotFound
		}
		lines = &memoryLines{}
		m.journals[name] = lines
	}
	return &memoryJournal{lines, mode}, nil
}

func (m *memory) Names(context.Context) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.journals {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

type memoryLines struct {
	mu    sync.Mutex
	lines []JournalLine
}

type memoryJournal struct {
	*memoryLines
	mode Mode
}

func (j *memoryJournal) Append(ctx context.Context, after Position, lines []JournalLine) error {
	if j.mode == Read {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if rest, err := cut(j.lines, after); err != nil || len(rest) > 0 {
		return ErrConflict
	}
	for _, line := range lines {
		line.Text = slices.Clone(line.Text)
		j.lines = append(j.lines, line)
	}
	return nil
}

func (j *memoryJournal) Read(ctx context.Context, after Position) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		lines, err := j.from(ctx, after)
		yieldAll(lines, err, yield)
	}
}

// from returns copies of the lines after a position.
func (j *memoryJournal) from(ctx context.Context, after Position) ([]JournalLine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	lines, err := cut(j.lines, after)
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Text = slices.Clone(lines[i].Text)
	}
	return lines, err
}

// ReadLatest implements Snapshotter.
func (j *memoryJournal) ReadLatest(ctx context.Context) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		lines, err := j.from(ctx, Position{})
		yieldAll(lines[lastSnapshot(lines):], err, yield)
	}
}

// lastSnapshot returns the index of the last snapshot, or 0 if there is none.
func lastSnapshot(lines []JournalLine) int {
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].Snapshot {
			return i
		}
	}
	return 0
}

// Trim implements Trimmer.
func (j *memoryJournal) Trim(_ context.Context, before uint64) error {
	if j.mode == Read {
		return ErrReadOnly
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.lines, func(l JournalLine) bool { return l.Line == before && l.Snapshot })
	if i < 0 {
		return ErrConflict
	}
	j.lines = slices.Clone(j.lines[i:])
	return nil
}

func (j *memoryJournal) Place() string { return "memory of this process" }

func (j *memoryJournal) Close() error { return nil }
