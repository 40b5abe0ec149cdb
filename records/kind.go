package records

import "fmt"

// kindOf is all that is particular to one kind of column. Each kind is one value, next to its
// constructor; the other files ask the kind and do not name it.
type kindOf struct {
	name         string // also the type in a schema's JSON form
	role         columnRole
	levels       bool // values are names rather than numbers
	oneHot       bool // encoded as one coordinate for each level
	ordered      bool // constraints may bound and compare the values
	whole        bool // whole numbers
	quoted       bool // a string in JSON
	fewest, most int  // numbers of levels; 0 for no bound of its own

	// The settings that only some kinds have.
	stepped, precise, dated, hashed bool

	kindRules
}

// columnRole is the part that a column plays in a record.
type columnRole uint8

const (
	valueRole      columnRole = iota
	classRole                 // not encoded, never missing
	targetRole                // never missing
	identifierRole            // not encoded, never read
)

// kindRules says how columns of a kind are declared, checked, written and read.
type kindRules interface {
	// show describes the values of a column in words, after its name and its kind.
	show(c Column) string
	// check records the mistakes in a declaration.
	check(f *columnFaults)
	// rebound returns the column with other bounds.
	rebound(c Column, lo, hi float64) Column
	// put sets the fields of the JSON form that not all kinds have, and get reads them.
	put(c Column, j *columnJSON)
	get(j columnJSON, c Column) (Column, error)
	// held returns how values are held in ticks, nil if they are not.
	held(c Column) tickKind
}

// kinds holds the kinds by number. The zero kind is invalid.
var kinds = [columnKindEnd]*kindOf{
	{kindRules: numberRules{}},
	NumericColumn: &numericKind, TargetColumn: &targetKind, IntegerColumn: &integerKind,
	OrdinalColumn: &ordinalKind, CategoricalColumn: &categoricalKind, FlagColumn: &flagKind,
	LabelColumn: &labelKind, DatetimeColumn: &datetimeKind, DurationColumn: &durationKind,
	HashedColumn: &hashedKind, IdentifierColumn: &identifierKind,
}

// of returns the kind, and the zero kind for a number that is none.
func (k ColumnKind) of() *kindOf {
	if uint(k) >= uint(len(kinds)) {
		k = 0
	}
	return kinds[k]
}

// String returns the kind's name, which is also its type in a schema's JSON form.
func (k ColumnKind) String() string {
	if name := k.of().name; name != "" {
		return name
	}
	return fmt.Sprintf("ColumnKind(%d)", int(k))
}

// hasLevels reports whether values are names rather than numbers.
func (k ColumnKind) hasLevels() bool { return k.of().levels }

// isClass reports whether values are the classes of the records.
func (k ColumnKind) isClass() bool { return k.of().role == classRole }

// isIdentifier reports whether values are identifiers.
func (k ColumnKind) isIdentifier() bool { return k.of().role == identifierRole }

// encoded reports whether a column is part of the encoded vector.
func (k ColumnKind) encoded() bool { return !k.isClass() && !k.isIdentifier() }

// isNumber reports whether values are numbers, moments or lengths of time.
func (k ColumnKind) isNumber() bool { return !k.hasLevels() && !k.isIdentifier() }
