//go:build !unix && !windows

package durable

import (
	"errors"
	"os"
)

func lockFile(*os.File) error { return errors.ErrUnsupported }

func blockFile(*os.File) error { return errors.ErrUnsupported }

func unlockFile(*os.File) error { return errors.ErrUnsupported }

func closeAndRemove(f *os.File) error {
	return errors.Join(f.Close(), removeIfThere(f.Name()))
}
