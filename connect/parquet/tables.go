package parquet

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// ReadTables reads the rows of several tables, each from the file with the table's name and the
// ending .parquet in a folder. Keys may be texts, whole numbers or other values that a column of
// levels takes; null is no key.
//
// Guarantee: see [records.Link], also for which rows are left out.
// Errors: see [ReadFrame]; *[param.Error] for an invalid description.
func ReadTables(folder string, t records.Tables, limits ...records.Limits) (*records.Linked,
	error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	var all []records.Keyed
	for _, own := range t.All() {
		var k records.Keyed
		var err error
		if own.Schema.Kind() != 0 {
			k, err = readTable(filepath.Join(folder, own.Name+".parquet"), own, limits)
		}
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", own.Name, err)
		}
		all = append(all, k)
	}
	if t.Schema.Kind() == 0 { // its rows are the keys that its first child names
		all[0].Keys = slices.Clone(all[1].Parents[0])
	}
	return records.Link(t, all...)
}

// readTable reads the rows of one file and their keys.
func readTable(path string, t records.Tables, limits []records.Limits) (k records.Keyed,
	err error) {
	if k.Rows, err = OpenFrame(path, t.Schema, limits...); err != nil {
		return k, err
	}
	for _, name := range t.Parents {
		keys, err := readKeys(path, name, limits)
		if err != nil {
			return k, err
		}
		k.Parents = append(k.Parents, keys)
	}
	if t.Key != "" {
		k.Keys, err = readKeys(path, t.Key, limits)
	}
	return k, err
}

// readKeys reads a column of keys as texts.
func readKeys(path, name string, limits []records.Limits) (keys []string, err error) {
	defer rescue(&err)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("parquet: %w", err)
	}
	s, err := records.NewSchema(records.Hashed(name, 2)) // which takes all that levels take
	if err != nil {
		return nil, err
	}
	in, err := open("parquet.ReadTables", f, info.Size(), s, limits)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if in.rows > last(limits).ValuesFor(info.Size()) {
		return nil, &records.LimitError{Limit: "Values",
			What: "the file holds more values than the limit allows"}
	}
	in.columns[0].form = texts
	values, err := in.columns[0].read(int(in.rows))
	if err != nil {
		return nil, err
	}
	keys = make([]string, len(values.Codes))
	for i, code := range values.Codes {
		if code >= 0 {
			keys[i] = values.Dictionary[code]
		}
	}
	return keys, nil
}

// WriteTables writes the rows of several tables to one file for each, as ReadTables reads them. It
// calls create with the name of each file when it has the first part. Keys are new: the rows of
// each table are numbered from 1, through all parts. It holds one row group of each table in
// memory.
//
// Errors: those of create, of the files and of the parts; *[param.Error] for parts of other tables.
func WriteTables(create func(name string) (io.WriteCloser, error),
	parts iter.Seq2[*records.Linked, error]) (err error) {
	var files []io.Closer
	var out []*writer // nil for a root without columns
	defer func() {
		for _, w := range out {
			if w != nil {
				err = errors.Join(err, w.file.Close())
			}
		}
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	var tables records.Tables
	var before []int
	for l, err := range parts {
		if err != nil {
			return err
		}
		list := l.Tables().All()
		if before == nil {
			tables, before = l.Tables(), make([]int, len(list))
			for i, t := range list {
				if t.Schema.Kind() == 0 {
					out = append(out, nil)
					continue
				}
				f, err := create(t.Name + ".parquet")
				if err != nil {
					return err
				}
				files = append(files, f)
				out = append(out, newWriter(f, l.Keyed(i, nil).Schema()))
			}
		}
		if !l.Tables().Equal(tables) {
			return param.New("parquet.WriteTables.parts", l.Tables().Name, "rows of the same tables")
		}
		for i, w := range out {
			if w != nil {
				if err := w.write(l.Keyed(i, before)); err != nil {
					return fmt.Errorf("parquet: writing: %w", err)
				}
			}
		}
		for i := range before {
			rows, _ := l.Table(i)
			before[i] += rows.Len()
		}
	}
	return nil
}
