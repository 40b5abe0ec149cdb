// Package durable writes files that appear completely or not at all. They survive a power failure.
// It also locks files against other processes. A lock ends with the process that holds it, so
// nothing has to be removed by hand after a crash.
package durable
