package sqlledger

import (
	"os"
	"path/filepath"
	"strings"
)

// mounted reports whether a file is mounted by itself, as containers do with a single file, so that
// it has another name elsewhere. Only Linux tells.
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
