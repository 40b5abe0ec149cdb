//go:build unix

package sqlledger

import (
	"io/fs"
	"syscall"
)

// links returns the number of names of a file.
func links(_ string, info fs.FileInfo) (uint64, error) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink), nil
	}
	return 1, nil
}
