package records

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Limits bound the cost of reading one input. The zero value is safe for untrusted bytes: an input
// of at most 1 MiB takes at most 64 MB of memory and about a second. The cost of a larger input is
// in proportion to its size. Raise a limit for trusted files.
//
// Every reader takes limits: [CSV] and [Visits] as a field, functions as an optional last argument.
// If several are given, the last one counts. An input over a limit results in a [LimitError], with
// one exception: a line of a record that is too long, or cannot be split, becomes a neutral record.
// One record therefore never affects how another is read.
//
// Units: bytes, unless said otherwise. A negative limit is an error.
type Limits struct {
	// LineBytes bounds a line of text. 0 means 1 MiB, or 32 bytes for each column and 16 bytes for
	// each item of the schema's largest set, if that is more.
	LineBytes int
	// Fields bounds the number of fields of a header and of columns of a schema file. 0 means 16,384,
	// or the number of the schema's columns if that is more.
	Fields int
	// Depth bounds the nesting of JSON. 0 means 32.
	Depth int
	// DocumentBytes bounds a file that is read as a whole, such as a schema. 0 means 16 MiB.
	DocumentBytes int
	// UnpackedBytes bounds the size of an unpacked gzip or zip file. 0 means 8 MiB, and 20 bytes more
	// for each byte of the packed file beyond the first MiB.
	UnpackedBytes int64
	// Values bounds the number of values of the records: coordinates, cells, items and labels. Each
	// set counts as one more value, and each person of [Visits] counts as ten more. 0 means 2,097,152
	// values, and 16 more for each byte beyond the first MiB of the input before unpacking.
	Values int64
	// Parameters bounds the number of parameters and state values of a network described by a plan,
	// and the cost of a record of a network in a plan or a generator, such as the numbers of an image,
	// in the same unit. 0 means 5,242,880, enough for every preset of package models.
	Parameters int64
	// Plain means that the input is not compressed, whatever its first bytes. Otherwise, a text file
	// is unpacked if it begins with the head of a gzip file. No text in UTF-8 begins with such a head.
	// Set Plain if the first line is a record that may hold any bytes.
	Plain bool
}

// The defaults of Limits.
const (
	freeBytes       = 1 << 20 // up to this size an input has the smallest limits
	defaultLine     = 1 << 20
	defaultFields   = 1 << 14
	defaultDepth    = 32
	defaultDocument = 16 << 20
	leastUnpacked   = 8 << 20
	unpackedPerByte = 20
	leastValues     = 2 << 20
	valuesPerByte   = 16
	mostParameters  = 5 << 20
)

// Validate reports every invalid limit, joined. Errors: *param.Error.
func (l Limits) Validate() error {
	var c param.Checker
	for _, v := range []struct {
		field string
		value int64
	}{
		{"LineBytes", int64(l.LineBytes)}, {"Fields", int64(l.Fields)}, {"Depth", int64(l.Depth)},
		{"DocumentBytes", int64(l.DocumentBytes)}, {"UnpackedBytes", l.UnpackedBytes},
		{"Values", l.Values}, {"Parameters", l.Parameters},
	} {
		c.OK(v.value >= 0, "records.Limits."+v.field, v.value, "a positive limit, or 0 for the default")
	}
	return c.Err()
}

// lastOf returns the last of the limits that were given.
func lastOf(given []Limits) Limits {
	if len(given) == 0 {
		return Limits{}
	}
	return given[len(given)-1]
}

func (l Limits) lineBytes(record int) int {
	return orDefault(l.LineBytes, max(defaultLine, record))
}
func (l Limits) fields(columns int) int { return orDefault(l.Fields, max(defaultFields, columns)) }
func (l Limits) depth() int             { return orDefault(l.Depth, defaultDepth) }
func (l Limits) documentBytes() int     { return orDefault(l.DocumentBytes, defaultDocument) }

func orDefault[T int | int64](set, otherwise T) T {
	if set > 0 {
		return set
	}
	return otherwise
}

// UnpackedFor returns the number of bytes that an input of the given size may unpack to, for
// readers outside this package.
func (l Limits) UnpackedFor(bytes int64) int64 { return l.unpacked(bytes) }

// ValuesFor returns the number of values that an input of the given size may hold, for readers
// outside this package.
func (l Limits) ValuesFor(bytes int64) int64 { return l.values(bytes) }

// unpacked returns the largest size that an input may unpack to, given the number of bytes read so
// far.
func (l Limits) unpacked(read int64) int64 {
	return orDefault(l.UnpackedBytes, leastUnpacked+unpackedPerByte*max(read-freeBytes, 0))
}

// Share returns the limits for one of n parts of an input that describe separate networks. ok is
// false if parts within parts are too many for useful limits.
func (l Limits) Share(n int) (part Limits, ok bool) {
	part = l
	part.Parameters = max(orDefault(l.Parameters, mostParameters)/int64(max(n, 1)), 1) // 0: default
	return part, part.Parameters >= mostParameters>>6
}

// CheckParameters returns an error if a network that an input describes has more parameters than
// the limit.
//
// Errors: a *LimitError.
func (l Limits) CheckParameters(what string, parameters int64) error {
	if most := orDefault(l.Parameters, mostParameters); parameters > most {
		return &LimitError{Limit: "Parameters",
			What: fmt.Sprintf("%s has %d parameters, more than %d", what, parameters, most)}
	}
	return nil
}

// values returns the largest number of values of an input, given the number of bytes read so far.
func (l Limits) values(read int64) int64 {
	return orDefault(l.Values, leastValues+valuesPerByte*max(read-freeBytes, 0))
}

// LimitError says that an input exceeds one of its [Limits]. It wraps [ErrFormat]. It names the
// limit, and contains nothing from a record.
type LimitError struct {
	Limit string // the name of the field of Limits that was exceeded
	What  string // what exceeds the limit
}

// Error describes what exceeds the limit, and names the limit to raise.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: %s: raise Limits.%s if the input is trusted", ErrFormat, e.What, e.Limit)
}

// Unwrap returns [ErrFormat].
func (e *LimitError) Unwrap() error { return ErrFormat }
