// Package durable writes files that appear whole or not at all and outlast a power failure, and
// locks files against other processes. A lock dies with the process that holds it, so nothing has
// to be removed by hand after a crash.
package durable
