//go:build unix

package sqlledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// links returns the number of names of a file. A file that is mounted by itself, as containers do
// with a single file, has another name elsewhere.
func links(path string, info fs.FileInfo) (uint64, error) {
	if mounted(path) {
		return 0, &fs.PathError{Op: "open", Path: path, Err: errors.New("the file is mounted by " +
			"itself, so its write-ahead log is not where its other names have it: mount its folder")}
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink), nil
	}
	return 1, nil
}

// mounted reports whether a path is a mount point, as far as /proc tells: on Linux.
func mounted(path string) bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return false
	}
	escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(path)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 4 && f[4] == escaped {
			return true
		}
	}
	return false
}
