//go:build !windows

package durable

import "os"

// rename replaces a file; SyncFolder makes the new name outlast a power failure.
func rename(from, to string) error { return os.Rename(from, to) }
