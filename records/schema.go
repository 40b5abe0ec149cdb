package records

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kind is the kind of one record.
type Kind int

// The kinds of record. The zero Kind is invalid, so an undeclared schema is an error.
const (
	BinaryVector    Kind = iota + 1 // every coordinate 0 or 1
	IntervalVector                  // every coordinate in [lo, hi]
	GreyImage                       // height × width grey levels in [0, 1], row after row
	BlackWhiteImage                 // height × width pixels, 0 or 1
	ItemSet                         // a subset of a universe of items, held sparse
	MixedTable                      // a row of columns of different kinds, see NewSchema
	ColourImage                     // height × width pixels of three numbers in [0, 1]
	kindEnd                         // one past the last kind
)

// String returns the kind's name, which is also its name in a schema's JSON form.
func (k Kind) String() string {
	switch k {
	case BinaryVector:
		return "binary"
	case IntervalVector:
		return "interval"
	case GreyImage:
		return "image"
	case BlackWhiteImage:
		return "binary image"
	case ItemSet:
		return "sets"
	case MixedTable:
		return "table"
	case ColourImage:
		return "colour image"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Limits of a schema. They are far above what fits in memory, and prevent a hostile file from
// making a size overflow.
const (
	maxDim     = 1 << 30
	maxClasses = 1 << 20
)

// Schema is the public description of a record: its kind, the number of its coordinates and their
// values, and the names of its classes if records are labelled. It is an immutable value; its
// methods return copies.
//
// Constructors do not validate; [Schema.Validate] reports mistakes, and every function
// that builds data calls it.
type Schema struct {
	kind          Kind
	dim           int
	height, width int
	maxItems      int
	lo, hi        float64
	classes       []string
	distinct      bool // the classes are known to be sound names, which many calls of Validate need
	unknown       int
	table         *mixed // for tables only
	persons       int    // largest number of rows per person; 0 for a schema of rows
}

// Binary returns the schema of vectors of dim coordinates that are 0 or 1.
func Binary(dim int) Schema { return Schema{kind: BinaryVector, dim: dim, lo: 0, hi: 1} }

// Interval returns the schema of vectors of dim real coordinates, each clamped to [lo, hi]. The
// bounds are public: declare them from knowledge of the domain, never from the records.
func Interval(dim int, lo, hi float64) Schema {
	return Schema{kind: IntervalVector, dim: dim, lo: lo, hi: hi}
}

// Image returns the schema of height × width images of grey levels in [0, 1].
func Image(height, width int) Schema {
	return Schema{kind: GreyImage, dim: area(height, width, 1), height: height, width: width,
		lo: 0, hi: 1}
}

// BinaryImage returns the schema of height × width images of pixels that are 0 or 1.
func BinaryImage(height, width int) Schema {
	return Schema{kind: BlackWhiteImage, dim: area(height, width, 1), height: height, width: width,
		lo: 0, hi: 1}
}

// RGBImage returns the schema of height × width images in colour, row after row. The red, green and
// blue of a pixel are next to each other, each in [0, 1].
func RGBImage(height, width int) Schema {
	return Schema{kind: ColourImage, dim: area(height, width, colours), height: height, width: width,
		lo: 0, hi: 1}
}

// colours is the number of channels of a colour image.
const colours = 3

// Sets returns the schema of subsets of the items 0 … universe-1 with at most maxItems items each.
// Encoding reduces a larger set to maxItems items, because the norm of a record, and so the
// sensitivity, depends on this bound.
func Sets(universe, maxItems int) Schema {
	return Schema{kind: ItemSet, dim: universe, maxItems: maxItems, lo: 0, hi: 1}
}

// area returns the number of values of an image, or 0 if its sides are invalid.
func area(height, width, channels int) int {
	if height < 1 || width < 1 || height > maxDim/channels/width {
		return 0
	}
	return height * width * channels
}

// WithLabels returns the schema of records that also carry one of the named classes. A label is the
// index of a name. An unknown label becomes class 0 unless [Schema.WithUnknown] declares another
// class. In a table, the names replace the levels of the label column; without such a column, a
// label column named "class" is added after the others ("class_" if one of them has that name).
func (s Schema) WithLabels(names ...string) Schema {
	if s.table != nil {
		return s.relabelled(names)
	}
	s.classes, s.unknown = slices.Clone(names), 0
	s.distinct = distinct(names)
	return s
}

// WithUnknown declares the class that unknown labels become. The class must be one of the names
// given to [Schema.WithLabels].
func (s Schema) WithUnknown(name string) Schema {
	if s.table != nil {
		return s.withUnknown(name)
	}
	s.unknown = slices.Index(s.classes, name)
	return s
}

// WithoutLabels returns the schema of the same records without a class.
func (s Schema) WithoutLabels() Schema { return s.WithLabels() }

// Kind returns the kind of the records.
func (s Schema) Kind() Kind { return s.kind }

// Dim returns the number of coordinates of an encoded record; for sets the size of
// the universe, for tables the sum of the widths of the blocks.
func (s Schema) Dim() int { return s.dim }

// Sparse reports whether batches of these records are sparse.
func (s Schema) Sparse() bool { return s.kind == ItemSet }

// IsBinary reports whether every coordinate of an encoded record is 0 or 1, independently of the
// others. Tables, whose coordinates depend on one another, are never binary.
func (s Schema) IsBinary() bool {
	return s.kind == BinaryVector || s.kind == BlackWhiteImage || s.kind == ItemSet
}

// IsImage reports whether a record is an image.
func (s Schema) IsImage() bool { return s.Channels() > 0 }

// Channels returns the number of values of a pixel: 3 for images in colour, 1 for other images, and
// 0 for other kinds.
func (s Schema) Channels() int {
	switch s.kind {
	case GreyImage, BlackWhiteImage:
		return 1
	case ColourImage:
		return colours
	}
	return 0
}

// MaxItems returns the largest number of items of a set, 0 for other kinds.
func (s Schema) MaxItems() int { return s.maxItems }

// Classes returns the number of classes, 0 if records have no labels.
func (s Schema) Classes() int { return len(s.classes) }

// ClassNames returns the names of the classes, in the order of their labels.
func (s Schema) ClassNames() []string { return slices.Clone(s.classes) }

// ClassName returns the name of one class, or its number if it has no name.
func (s Schema) ClassName(label int) string {
	if label >= 0 && label < len(s.classes) {
		return s.classes[label]
	}
	return fmt.Sprint(label)
}

// Bounds returns the smallest and the largest value of a coordinate of an encoded
// record; see [Column.Bounds] for the values of a table.
func (s Schema) Bounds() (lo, hi float64) { return s.lo, s.hi }

// Height returns the number of rows of an image, 0 for other kinds.
func (s Schema) Height() int { return s.height }

// Width returns the number of columns of an image, 0 for other kinds.
func (s Schema) Width() int { return s.width }

// MaxNorm returns an upper bound of the L2 norm of an encoded record. The bound is attained up to
// rounding. It is public, and an analytic sensitivity may depend on it.
func (s Schema) MaxNorm() float64 {
	if s.kind == ItemSet {
		return roundUp(math.Sqrt(float64(min(s.maxItems, s.dim))))
	}
	if s.table != nil {
		return roundUp(math.Sqrt(float64(len(s.table.blocks))))
	}
	return roundUp(math.Sqrt(float64(s.dim)) * math.Max(math.Abs(s.lo), math.Abs(s.hi)))
}

// roundUp compensates for the rounding of a square root and a product. Integers, the common case of
// binary records, are returned unchanged.
func roundUp(x float64) float64 {
	if x == math.Trunc(x) {
		return x
	}
	return x * (1 + 4e-16)
}

// Equal reports whether two schemas describe the same records.
//
// It ignores the number of rows per person ([Schema.ByPerson]), since the rows are the same; see
// [CheckPersons]. It also ignores the texts by which files name the levels of a table
// ([Column.WithAlias]), and constraints on generated records ([Schema.WithConstraints]).
func (s Schema) Equal(o Schema) bool {
	a, b := s, o
	a.classes, b.classes = nil, nil
	return a.same(b) && slices.Equal(s.classes, o.classes)
}

func (s Schema) same(o Schema) bool {
	return s.kind == o.kind && s.dim == o.dim && s.height == o.height && s.width == o.width &&
		s.maxItems == o.maxItems && s.lo == o.lo && s.hi == o.hi && s.unknown == o.unknown &&
		s.table.equal(o.table)
}

// String describes the schema in words.
func (s Schema) String() string {
	var b strings.Builder
	switch s.kind {
	case BinaryVector:
		fmt.Fprintf(&b, "binary vectors of %d", s.dim)
	case IntervalVector:
		fmt.Fprintf(&b, "vectors of %d in [%g, %g]", s.dim, s.lo, s.hi)
	case GreyImage:
		fmt.Fprintf(&b, "%d×%d grey images", s.height, s.width)
	case BlackWhiteImage:
		fmt.Fprintf(&b, "%d×%d binary images", s.height, s.width)
	case ColourImage:
		fmt.Fprintf(&b, "%d×%d colour images", s.height, s.width)
	case ItemSet:
		fmt.Fprintf(&b, "sets of at most %d of %d items", s.maxItems, s.dim)
	case MixedTable:
		fmt.Fprintf(&b, "tables of %d columns (%v)", len(s.table.columns), s.table)
	default:
		return "no schema"
	}
	if len(s.classes) > 0 {
		fmt.Fprintf(&b, ", %d classes", len(s.classes))
	}
	if s.persons > 0 {
		fmt.Fprintf(&b, ", at most %d per person", s.persons)
	}
	return b.String()
}
