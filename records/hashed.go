package records

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

var hashedKind = kindOf{name: "hashed", levels: true, oneHot: true, quoted: true, hashed: true,
	kindRules: hashedRules{}}

// hashedRules are the rules of hashed texts.
type hashedRules struct{ levelRules }

func (hashedRules) show(c Column) string  { return fmt.Sprintf(" into %d buckets", len(c.levels)) }
func (hashedRules) check(f *columnFaults) { f.hashed() }

func (hashedRules) put(c Column, j *columnJSON) { j.Buckets, j.Levels = len(c.levels), c.known }

func (hashedRules) get(j columnJSON, c Column) (Column, error) {
	hashed := Hashed(j.Name, j.Buckets, j.Levels...)
	c.levels, c.known, c.most = hashed.levels, hashed.known, hashed.most
	if c.other != "" {
		c = c.WithOther(c.other)
	}
	return c, nil
}

// Hashed returns a column of texts, for texts that are too many to declare. A fixed, public hash
// puts each text into one of the given number of buckets, and the bucket is encoded one-hot. Texts
// in the same bucket are not distinguished. With b buckets, two texts share a bucket with
// probability 1/b.
//
// Generated records hold the name of a bucket: the first known text that falls into it, or a name
// such as "bucket-17". Known texts are declared, like levels; there may be any number of them.
// [Column.Levels] returns the names.
//
// A missing value becomes the first bucket unless the column is [Column.WithMissing].
//
// With [Column.WithOther] and no known texts, the levels of the column are open: its records keep
// their texts beside the buckets, and a composition may find levels among the texts at a price, as
// compose.Levels does. The other level has the last bucket, and all other texts share the others.
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

// bucketOf returns the bucket of a text: its FNV-1a hash, mixed as in SplitMix64, and scaled. Files
// depend on it, so it must never change.
func bucketOf[T string | []byte](text T, buckets int) int {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	hi, _ := bits.Mul64(mix(h), uint64(buckets))
	return int(hi)
}

// bucket returns the bucket of a text. The name of a bucket, such as "bucket-17", is in that
// bucket.
func (k *cellCode) bucket(text string) uint16 {
	if number, named := bucketNumber(text); named {
		if n, ok := wholeNumber(number); ok && n < int64(k.levels) {
			return uint16(n)
		}
	}
	if k.open {
		return uint16(bucketOf(text, int(k.levels)-1))
	}
	return uint16(bucketOf(text, int(k.levels)))
}

// bucketNumber returns the number in the name of a bucket; named is false for other texts.
func bucketNumber(text string) (number string, named bool) {
	number, named = strings.CutPrefix(text, bucketPrefix)
	return number, named && digitsOnly(number)
}

// maxBuckets is the largest number of buckets of all columns of a schema together. It bounds the
// memory that a few bytes of a schema file can ask for.
const maxBuckets = 1 << 18

// hashed checks the number of buckets, and that no known text is the name of a bucket.
func (f *columnFaults) hashed() {
	c := f.column
	if len(c.levels) == 0 {
		f.bad(".Buckets", c.most, fmt.Sprintf("2 to %d buckets", maxLevels))
	}
	if c.lo != 0 || c.hi != 0 || c.logarithmic {
		f.bad(".Bounds", c.kind, "neither bounds nor a logarithm: the column holds texts")
	}
	_, named := bucketNumber(c.other)
	if c.other != "" && (!plainText(c.other) || named || len(c.known) > 0) || len(c.aliases) > 0 {
		f.bad(".WithOther", quotedName(c.other), "no alias, since every text has a bucket; and no "+
			"other level, or one that is not the name of a bucket, without known texts")
	}
	seen := make(map[string]bool, len(c.known))
	for i, text := range c.known {
		_, named := bucketNumber(text)
		if !plainText(text) || seen[text] || named {
			f.bad(fmt.Sprintf(".Known[%d]", i), quotedName(text),
				"a unique text without control characters or surrounding blanks, and not the name of a bucket")
		}
		seen[text] = true
	}
}

// code returns the level with the given name, or the bucket of the text.
func (k *cellCode) code(lookup map[string]uint16, text string) uint16 {
	if code, known := lookup[text]; known {
		return code
	}
	if k.kind.of().hashed {
		return k.bucket(text)
	}
	return unknownLevel
}
