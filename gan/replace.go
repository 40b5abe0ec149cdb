package gan

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen/internal/artefact"
)

// mark makes the marker of somebody who is writing a checkpoint. Writing takes no time to speak of, so one that stays
// was left by a run that was killed just then, or belongs to one that hangs.
func mark(path string) (string, error) {
	marker := path + ".taking"
	for range 100 {
		f, err := os.OpenFile(marker, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return marker, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("gan: checkpoint: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "", fmt.Errorf("%w: %s is in the way; if no run is at work on it a killed one left it, and it may be removed", ErrTaken, marker)
}

// replaceFile writes a file that appears whole or not at all.
func replaceFile(path string, file *artefact.File) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".privgen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	w := bufio.NewWriter(tmp)
	if err := artefact.Write(w, file); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes a new name outlast a power failure: were the last checkpoint back in its place afterwards, steps that
// were drawn since would be drawn again. Not every system can, and one that cannot is no worse off for the attempt.
func syncFolder(path string) {
	folder, err := os.Open(path)
	if err != nil {
		return
	}
	_ = folder.Sync()
	_ = folder.Close()
}
