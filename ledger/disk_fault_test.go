package ledger

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
)

// failingDisk is a disk of which one call fails, a call that only reads included.
type failingDisk struct {
	disk
	left int // calls before the one that fails; below 0 if none does
}

func (d *failingDisk) fails() error {
	if d.left--; d.left == -1 {
		return syscall.EIO
	}
	return nil
}

func (d *failingDisk) Open(path string, write, create bool) (diskFile, error) {
	if err := d.fails(); err != nil {
		return nil, err
	}
	f, err := d.disk.Open(path, write, create)
	if err != nil {
		return nil, err
	}
	return &failingFile{f, d}, nil
}

func (d *failingDisk) Replace(path string, content func(io.Writer) error) error {
	return errors.Join(d.disk.Replace(path, func(w io.Writer) error {
		return content(writerFunc(func(b []byte) (int, error) {
			if err := d.fails(); err != nil {
				return 0, err
			}
			return w.Write(b)
		}))
	}), d.fails())
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (d *failingDisk) MakeFolder(path string) error {
	return errors.Join(d.disk.MakeFolder(path), d.fails())
}

func (d *failingDisk) SyncFolder(path string) error {
	return errors.Join(d.disk.SyncFolder(path), d.fails())
}

type failingFile struct {
	diskFile
	d *failingDisk
}

func (f *failingFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.d.fails(); err != nil {
		return 0, err
	}
	return f.diskFile.ReadAt(b, at)
}

func (f *failingFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.d.fails(); err != nil {
		return 0, err
	}
	return f.diskFile.WriteAt(b, at)
}

func (f *failingFile) Truncate(size int64) error {
	return errors.Join(f.diskFile.Truncate(size), f.d.fails())
}

func (f *failingFile) Sync() error { return errors.Join(f.diskFile.Sync(), f.d.fails()) }

func (f *failingFile) Size() (int64, error) {
	n, err := f.diskFile.Size()
	return n, errors.Join(err, f.d.fails())
}

func (f *failingFile) Current(path string) (bool, error) {
	ok, err := f.diskFile.Current(path)
	return ok, errors.Join(err, f.d.fails())
}

func (f *failingFile) Close() error { return errors.Join(f.diskFile.Close(), f.d.fails()) }

// A scene is a journal of four lines that two handles have read. One of them may have been left
// behind since.
type scene struct {
	dir       *dir
	disk      *failingDisk
	j, others *fileJournal
}

func newScene(t *testing.T, folder, since string) *scene {
	disk := &failingDisk{newSimulated(), -1}
	s := &scene{dir: &dir{folder: folder, disk: disk}, disk: disk}
	s.others = must[Journal](t)(s.dir.Journal(t.Context(), "people", Create)).(*fileJournal)
	s.j = must[Journal](t)(s.dir.Journal(t.Context(), "people", Write)).(*fileJournal)
	grow := func(snapshot bool) {
		if err := s.others.Append(t.Context(), s.others.chain.last(),
			nextLines(s.others, snapshot)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		grow(i == 2)
	}
	if lines, err := s.lines(t, s.j); err != nil || len(lines) != 4 {
		t.Fatal(len(lines), err)
	}
	names := disk.disk.(*simulated).names
	switch since {
	case "a line":
		grow(false)
	case "a trimmed journal":
		if err := s.others.Trim(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	case "a torn line":
		names[s.j.path].content = append(names[s.j.path].content, "torn"...)
	case "a new file of the mark":
		mark := *names[s.j.markPath]
		names[s.j.markPath] = &mark
	}
	return s
}

func nextLines(j *fileJournal, snapshot bool) []JournalLine {
	at := j.chain.last()
	text := fmt.Appendf(nil, `{"line":%d}`, at.Line+1)
	return []JournalLine{{Position{at.Line + 1, ChainHash(at.Hash, text)}, text, snapshot}}
}

func (s *scene) lines(t *testing.T, j *fileJournal) (lines []JournalLine, err error) {
	for line, err := range j.Read(t.Context(), Position{}) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// TestEveryFailingCall lets each call to the disk fail once, in everything that a journal does. The
// journal returns the error, since what it could not read or write may be the line that matters.
// Afterwards it holds every line that was confirmed.
func TestEveryFailingCall(t *testing.T) {
	open := func(mode Mode) func(s *scene) error {
		return func(s *scene) error {
			j, err := s.dir.Journal(t.Context(), "people", mode)
			if err != nil {
				return err
			}
			_, err = s.lines(t, j.(*fileJournal))
			return errors.Join(err, j.Close())
		}
	}
	folder := t.TempDir()
	for what, op := range map[string]func(s *scene) error{
		"create": func(s *scene) error {
			clear(s.disk.disk.(*simulated).names)
			return open(Create)(s)
		},
		"open":  open(Write),
		"audit": open(Read),
		"append": func(s *scene) error {
			return s.j.Append(t.Context(), s.others.chain.last(), nextLines(s.others, false))
		},
		"read": func(s *scene) error { _, err := s.lines(t, s.j); return err },
		"latest": func(s *scene) error {
			for _, err := range s.j.ReadLatest(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"trim": func(s *scene) error { return s.j.Trim(t.Context(), 3) },
	} {
		for _, since := range []string{"nothing", "a line", "a trimmed journal", "a torn line",
			"a new file of the mark"} {
			for at := 0; ; at++ {
				s := newScene(t, folder, since)
				s.disk.left = at
				err := op(s)
				if s.disk.left >= 0 {
					if err != nil || at < 5 {
						t.Errorf("%s after %s, without a failure: %d calls, %v", what, since, at, err)
					}
					break
				}
				if !errors.Is(err, syscall.EIO) {
					t.Errorf("%s after %s: call %d fails, got %v", what, since, at, err)
				}
				if what == "create" {
					continue
				}
				again := must[Journal](t)(s.dir.Journal(t.Context(), "people", Write)).(*fileJournal)
				lines, err := s.lines(t, again)
				if err != nil || len(lines) == 0 || lines[len(lines)-1].Line < s.others.chain.last().Line {
					t.Errorf("%s after %s: call %d failed, now %d lines, %v", what, since, at, len(lines),
						err)
				}
			}
		}
	}
}

// TestLinesThatDoNotFollow: a journal in a file writes no line that it could not read again, and
// nothing of a list with such a line.
func TestLinesThatDoNotFollow(t *testing.T) {
	s := newScene(t, t.TempDir(), "nothing")
	for what, change := range map[string]func(l *JournalLine){
		"a gap":        func(l *JournalLine) { l.Line++ },
		"line 0":       func(l *JournalLine) { l.Line = 0 },
		"another hash": func(l *JournalLine) { l.Hash = ChainHash("", l.Text) },
		"a short hash": func(l *JournalLine) { l.Hash = l.Hash[1:] },
		"no hash":      func(l *JournalLine) { l.Hash = "" },
		"another text": func(l *JournalLine) { l.Text = append(l.Text, ' ') },
		"two lines": func(l *JournalLine) {
			l.Text = append(l.Text, '\n')
			l.Hash = ChainHash(nextLines(s.j, false)[0].Hash, l.Text)
		},
	} {
		good := nextLines(s.j, false)
		at := chainAt(s.j.chain.last())
		at.follows(frame{[]byte(good[0].Hash), good[0].Line, false, good[0].Text})
		bad := nextLines(&fileJournal{chain: at}, false)
		change(&bad[0])
		if err := s.j.Append(t.Context(), s.j.chain.last(), append(good, bad...)); err == nil {
			t.Errorf("%s is written", what)
		}
		if lines, err := s.lines(t, s.j); err != nil || len(lines) != 4 {
			t.Fatalf("after %s there are %d lines, %v", what, len(lines), err)
		}
	}
}
