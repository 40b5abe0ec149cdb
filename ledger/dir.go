package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7ba64551/privgen/internal/durable"
)

// Dir returns a store whose ledgers are files, each ledger in its own subfolder. Any number of
// processes on one machine can use the store at the same time. Each folder has three files:
//
//	journal   one line for each change, chained by hashes; lines are only appended
//	mark      the number and the hash of the last confirmed line
//	lock      held by the process that appends, and released when that process ends
//
// An append waits for the disk twice: for the journal and for the mark. A last line that was being
// written when the power failed is dropped, because it was never confirmed. Any other damage
// results in ErrDamaged, and a journal that ends before its mark results in
// ErrRolledBack. Nothing can then be reserved until the right files are restored.
//
// The store cannot detect three things:
//   - that journal and mark were restored together from one older copy (see [DirWithMarks]), unless
//     the process has seen a newer line or has a checkpoint that names one;
//   - that an attacker wrote journal and mark anew, or removed the lock while it was held;
//   - that a disk or a file system reports a write as durable when it is not.
//
// The folder must be on a file system of the machine itself, because the locks of network file
// systems behave differently. On Windows a journal can be trimmed only while no other process has
// it open.
func Dir(folder string) *Store { return DirWithMarks(folder, "") }

// DirWithMarks is like Dir, with the marks in a separate folder, for example on another disk.
// Choose a folder that is not backed up together with the ledgers. A mark remembers the last line
// of its journal, so a journal restored from a backup is refused.
func DirWithMarks(folder, marks string) *Store {
	return NewStore(&dir{folder: folder, marks: marks, disk: files{}})
}

type dir struct {
	folder string
	marks  string // empty: the marks are next to the journals
	disk   disk
}

const (
	journalFile = "journal"
	markFile    = "mark"
	lockFile    = "lock"
)

// Journal implements Backend.
func (d *dir) Journal(ctx context.Context, name string, mode Mode) (Journal, error) {
	if err := errors.Join(ctx.Err(), ValidateName(name)); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Join(d.folder, name))
	if err != nil {
		return nil, err
	}
	j := &fileJournal{disk: d.disk, path: filepath.Join(folder, journalFile), mode: mode,
		markPath: filepath.Join(folder, markFile)}
	if d.marks != "" {
		j.markPath = filepath.Join(d.marks, name+"."+markFile)
	}
	if mode != Read {
		j.mutex = durable.NewMutex(filepath.Join(folder, lockFile))
	}
	if mode == Create {
		if err := j.create(ctx, folder); err != nil {
			return nil, err
		}
	}
	if err := j.open(); err != nil {
		if errors.Is(err, fs.ErrNotExist) && mode == Create {
			return nil, fmt.Errorf("%w: its journal or its mark is gone", ErrDamaged)
		}
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Names implements Backend.
func (d *dir) Names(ctx context.Context) (names []string, err error) {
	entries, err := os.ReadDir(d.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && ValidateName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, ctx.Err()
}
