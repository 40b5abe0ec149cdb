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

// last returns the position of the last line. The caller holds mu.
func (m *memoryLines) last() Position {
	if len(m.lines) == 0 {
		return Position{}
	}
	return m.lines[len(m.lines)-1].Position
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
	if j.last() != after {
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
		for _, line := range lines {
			line.Text = slices.Clone(line.Text)
			if !yield(line, nil) {
				return
			}
		}
		if err != nil {
			yield(JournalLine{}, err)
		}
	}
}

// from returns the lines after a position.
func (j *memoryJournal) from(ctx context.Context, after Position) ([]JournalLine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if after == (Position{}) || len(j.lines) > 0 && after.Line < j.lines[0].Line {
		return slices.Clone(j.lines), nil
	}
	i := int(after.Line - j.firstNumber())
	if len(j.lines) == 0 || i >= len(j.lines) || j.lines[i].Position != after {
		return nil, ErrRolledBack
	}
	return slices.Clone(j.lines[i+1:]), nil
}

func (j *memoryJournal) firstNumber() uint64 {
	if len(j.lines) == 0 {
		return 0
	}
	return j.lines[0].Line
}

// ReadLatest implements Snapshotter.
func (j *memoryJournal) ReadLatest(ctx context.Context) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		lines, err := j.from(ctx, Position{})
		if err != nil {
			yield(JournalLine{}, err)
			return
		}
		for _, line := range lines[lastSnapshot(lines):] {
			line.Text = slices.Clone(line.Text)
			if !yield(line, nil) {
				return
			}
		}
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
	for i, line := range j.lines {
		if line.Line == before && line.Snapshot {
			j.lines = slices.Clone(j.lines[i:])
			return nil
		}
	}
	return ErrConflict
}

func (j *memoryJournal) Place() string { return "memory of this process" }

func (j *memoryJournal) Close() error { return nil }
