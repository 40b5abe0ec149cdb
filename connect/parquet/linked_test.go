package parquet_test

import (
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

type shopRow struct {
	ID     *string `parquet:"id,optional"`
	Region string  `parquet:"region"`
}

type orderRow struct {
	Customer *string `parquet:"customer,optional"`
	Number   float64 `parquet:"number"`
	Paid     bool    `parquet:"paid"`
}

func shopTables(t testing.TB) records.Tables {
	t.Helper()
	return records.Tables{Name: "customers", Key: "id",
		Schema: must(records.NewSchema(records.Categorical("region", "north", "south")))(t),
		Children: []records.Tables{{Name: "orders", Key: "number", Parents: []string{"customer"},
			Most: 3, Schema: must(records.NewSchema(records.Flag("paid", "no", "yes")))(t)}}}
}

func writeRows[T any](t *testing.T, path string, rows []T) {
	t.Helper()
	f := must(os.Create(path))(t)
	defer f.Close()
	w := pq.NewGenericWriter[T](f)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTables reads tables whose keys are texts and numbers, some of them null or unknown, writes
// them in two parts, and reads them again.
func TestTables(t *testing.T) {
	key := func(s string) *string { return &s }
	folder := t.TempDir()
	writeRows(t, filepath.Join(folder, "customers.parquet"), []shopRow{{key("a"), "north"},
		{nil, "south"}, {key("b"), "south"}, {key("a"), "south"}})
	writeRows(t, filepath.Join(folder, "orders.parquet"), []orderRow{{key("b"), 1, true},
		{key("c"), 1, true}, {nil, 2, true}, {key("a"), 7, false}, {key("b"), 2, false},
		{key("b"), 1, false}})
	l := must(parquet.ReadTables(folder, shopTables(t)))(t)
	check := func(l *records.Linked, times int) {
		t.Helper()
		roots, _ := l.Table(0)
		orders, up := l.Table(1)
		if roots.Len() != 2*times || orders.Len() != 3*times {
			t.Fatalf("%d customers and %d orders, want %d and %d", roots.Len(), orders.Len(), 2*times,
				3*times)
		}
		for k, want := range []struct {
			up   int32
			paid string
		}{{0, "no"}, {1, "yes"}, {1, "no"}} {
			if up[k] != want.up || orders.Value(k, 0) != want.paid {
				t.Errorf("order %d of customer %d: paid %s, want customer %d and %s", k, up[k],
					orders.Value(k, 0), want.up, want.paid)
			}
		}
	}
	check(l, 1)
	again := t.TempDir()
	err := parquet.WriteTables(func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(again, name))
	}, twice(l))
	if err != nil {
		t.Fatal(err)
	}
	check(must(parquet.ReadTables(again, shopTables(t)))(t), 2)
}

// TestTablesWithoutAKey: a missing column or file is an error, and so is an error of the parts.
func TestTablesWithoutAKey(t *testing.T) {
	folder := t.TempDir()
	writeRows(t, filepath.Join(folder, "customers.parquet"), []orderRow{{}})
	if _, err := parquet.ReadTables(folder, shopTables(t)); !errors.Is(err, records.ErrFormat) {
		t.Errorf("without the column of keys: %v", err)
	}
	if _, err := parquet.ReadTables(t.TempDir(), shopTables(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	broken := errors.New("broken")
	if err := parquet.WriteTables(nil, func(yield func(*records.Linked, error) bool) {
		yield(nil, broken)
	}); !errors.Is(err, broken) {
		t.Errorf("parts with an error: %v", err)
	}
}

// twice yields the same rows as two parts.
func twice(l *records.Linked) iter.Seq2[*records.Linked, error] {
	return func(yield func(*records.Linked, error) bool) {
		for range 2 {
			if !yield(l, nil) {
				return
			}
		}
	}
}
