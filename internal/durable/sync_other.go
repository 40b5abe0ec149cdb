//go:build !unix

package durable

// SyncFolder does nothing: folders cannot be synced on this system.
func SyncFolder(string) error { return nil }
