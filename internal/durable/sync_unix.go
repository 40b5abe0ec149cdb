//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// SyncFolder makes the names in a folder survive a power failure. File systems that cannot sync a
// folder return EINVAL or ENOTSUP. That is not an error here, because they keep names in order
// without it.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
