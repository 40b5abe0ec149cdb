package records

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Hashed is a column of texts of which there are too many to declare: each falls into one of some
// public buckets, by a fixed function of the text alone, and is that bucket from then on, encoded
// one-hot. Texts are distinguished as far as their buckets are: with b buckets two texts are the
// same with probability 1/b.
//
// A bucket's name, which is what generated records hold, is the first of the known texts that fall
// into it, or "bucket-17". Known texts are declared, like levels; there may be any number of them.
// The names are the column's [Column.Levels].
//
// What is missing falls nowhere: it is the first bucket unless [Column.WithMissing] gives it a
// place of its own.
func Hashed(name string, buckets int, known ...string) Column {
	c := Column{kind: HashedColumn, name: name, known: append([]string(nil), known...)}
	if buckets < 2 || buckets > maxLevels {
		c.most = int64(buckets) // for the error
		return c
	}
	c.levels = make([]string, buckets)
	for _, text := range known {
		if b := bucketOf(text, buckets); c.levels[b] == "" {
			c.levels[b] = text
		}
	}
	for i, text := range c.levels {
		if text == "" {
			c.levels[i] = bucketPrefix + strconv.Itoa(i)
		}
	}
	return c
}

const bucketPrefix = "bucket-"

// bucketOf is the bucket of a text: FNV-1a, mixed as SplitMix64 does it, and scaled. Files depend
// on it; it never changes.
func bucketOf[T string | []byte](text T, buckets int) int {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	hi, _ := bits.Mul64(mixed64(h), uint64(buckets))
	return int(hi)
}

// mixed64 is the last step of SplitMix64, which takes no two numbers to one.
func mixed64(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// bucket is that of a text, or the one whose number the text names.
func (k *cellCode) bucket(text string) uint16 {
	if number, named := strings.CutPrefix(text, bucketPrefix); named && digitsOnly(number) {
		if n, ok := wholeNumber(number); ok && n < int64(k.levels) {
			return uint16(n)
		}
	}
	return uint16(bucketOf(text, int(k.levels)))
}

// maxBuckets is how many all columns of a schema may have together: a few bytes of a schema file
// ask for memory that grows with them.
const maxBuckets = 1 << 18

// hashed wants buckets, and known texts that are no bucket's own name.
func (f *columnFaults) hashed() {
	c := f.column
	if len(c.levels) == 0 {
		f.bad(".Buckets", c.most, fmt.Sprintf("2 to %d buckets", maxLevels))
	}
	if c.lo != 0 || c.hi != 0 || c.logarithmic {
		f.bad(".Bounds", c.kind, "neither bounds nor a logarithm: the column holds texts")
	}
	if c.other != "" || len(c.aliases) > 0 {
		f.bad(".WithOther", c.other, "no other level and no alias: every text has a bucket")
	}
	seen := make(map[string]bool, len(c.known))
	for i, text := range c.known {
		number, named := strings.CutPrefix(text, bucketPrefix)
		if !plainText(text) || seen[text] || named && digitsOnly(number) {
			f.bad(fmt.Sprintf(".Known[%d]", i), quotedName(text),
				"a text of its own without control characters, or blanks around it, and no bucket's name")
		}
		seen[text] = true
	}
}

// code is the level that a text names, or falls into.
func (k *cellCode) code(lookup map[string]uint16, text string) uint16 {
	if code, known := lookup[text]; known {
		return code
	}
	if k.kind == HashedColumn {
		return k.bucket(text)
	}
	return unknownLevel
}
