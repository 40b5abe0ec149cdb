package synthtest

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Subject is a system under test.
type Subject struct {
	// System reads the files that the system writes.
	System synth.System
	// Plan returns a plan that runs in well under a second on a few dozen records. The argument n
	// is the public number of records; some plans need it. For a kind of record that the system
	// does not support, Plan returns a *param.Error.
	Plan func(s records.Schema, b accountant.Budget, n int) (synth.Plan, error)
	// Load lists the options needed to read the system's generators.
	Load []synth.LoadOption
	// OwnNumbers means that samples number the rows of every disjoint part from zero, for example
	// because classes are sampled separately. Replays identify rows by their numbers in the whole
	// data. The two numberings agree only if records are added at the end, so other neighbours are
	// not replayed.
	OwnNumbers bool
	// Interrupts is the number of places at which a run is interrupted; 0 means 6.
	Interrupts int
}

// Run runs every test on the subject.
func Run(t *testing.T, s Subject) {
	t.Run("kinds of records", s.testKinds)
	t.Run("bill", s.testBill)
	t.Run("mistakes", s.testMistakes)
	t.Run("failing data", s.testFailingData)
	t.Run("shared ledger", s.testSharedLedger)
	t.Run("cancellation", s.testCancellation)
	t.Run("lost uses", s.testLostUses)
	t.Run("options", s.testOptions)
	t.Run("checkpoints", s.testCheckpoints)
	t.Run("shares", s.testShares)
	t.Run("one run a checkpoint", s.testTaken)
	t.Run("replay", s.testReplay)
	t.Run("memory", s.testMemory)
	t.Run("files", s.testFiles)
}

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

func budgetOf(r accountant.Relation) accountant.Budget {
	return accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
}

// A kind is a kind of records.
type kind struct {
	name   string
	schema records.Schema
}

// kinds returns all kinds of records, with labels and without.
func kinds(t testing.TB) []kind {
	t.Helper()
	columns := func(list ...records.Column) records.Schema {
		list = append(list, records.Categorical("work", "private", "self", "none"),
			records.Flag("veteran", "no", "yes"))
		s := must(records.NewSchema(list...))(t)
		return s
	}
	numbers := []records.Column{records.Numeric("age", 17, 90), records.Integer("children", 0, 5)}
	list := []kind{
		{"binary", records.Binary(9)}, {"binary image", records.BinaryImage(4, 4)},
		{"numbers", records.Interval(5, -2, 6)}, {"image", records.Image(4, 4)},
		{"sets", records.Sets(12, 4)}, {"colour image", records.RGBImage(4, 4)},
	}
	for _, k := range list[:len(list):len(list)] {
		list = append(list, kind{k.name + " with labels", k.schema.WithLabels("a", "b", "c")})
	}
	return append(list, kind{"table of levels", columns(records.Ordinal("pain", "none", "bad"))},
		kind{"table", columns(numbers...)},
		kind{"table with labels", columns(append(numbers, records.Label("income", "low", "high"))...)},
		kind{"table with a target", columns(append(numbers, records.Target("cost", 0, 100))...)},
		kind{"table of every kind of column", columns(append(numbers, otherColumns()...)...).
			WithConstraints(records.Determines([]string{"drug", "pain"}))})
}

// otherColumns returns one column of each kind that the plain table lacks.
func otherColumns() []records.Column {
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	return []records.Column{records.Identifier("id", records.UUID()),
		records.Datetime("seen", from, from.AddDate(1, 0, 0), time.Hour).
			WithParts(records.WeekdayPart).WithMissing(),
		records.Duration("stay", 0, time.Hour, time.Second),
		records.Integer("account", math.MaxInt>>8, math.MaxInt>>8+40).WithMissing(),
		records.Ordinal("pain", "none", "some", "bad"), records.Hashed("drug", 3).WithOther("unlisted"),
		records.Label("outcome", "well", "ill")}
}

// quickest returns a plan and records of the first kind that the system supports and that has at
// least so many classes, or of the last kind that it supports.
func (s Subject) quickest(t testing.TB, b accountant.Budget, classes int) (p synth.Plan,
	data records.Data) {
	t.Helper()
	var refused error
	for _, k := range kinds(t) {
		if q, err := s.Plan(k.schema, b, rows); err != nil {
			refused = err
		} else if p, data = q, sample(t, k.schema, rows, 1); k.schema.Classes() >= classes {
			return p, data
		}
	}
	if p == nil {
		t.Fatalf("no kind of record is handled: %v", refused)
	}
	return p, data
}

// tempDir returns a new folder in memory where there is one: syncing a disk takes half of the time.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "synthtest")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

const rows = 40

func name(parts ...any) string { return fmt.Sprint(parts...) }

// must returns a function that returns v, or ends the test if there is an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
