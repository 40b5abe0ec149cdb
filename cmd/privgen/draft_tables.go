package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/records"
)

// A declared table is a table of a database as its declarations describe it.
type declaredTable struct {
	name    string
	columns []string
	primary []string // the columns of its primary key, in order
	foreign []foreignKey
}

// A foreignKey names the columns of a row of another table.
type foreignKey struct {
	table    string
	from, to []string
}

// declared reads the declarations of all tables of an SQLite database.
func declared(ctx context.Context, db *sql.DB) (list []declaredTable, err error) {
	rows, err := db.QueryContext(ctx, `select m.name, c.name, c.pk from sqlite_schema m,
		pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite_%'
		order by m.name, c.cid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		var place int
		if err := rows.Scan(&table, &column, &place); err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].name != table {
			list = append(list, declaredTable{name: table})
		}
		t := &list[len(list)-1]
		t.columns = append(t.columns, column)
		if place > 0 {
			t.primary = append(t.primary, make([]string, max(place-len(t.primary), 0))...)
			t.primary[place-1] = column
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].links(ctx, db); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// links reads the foreign keys of a table. A key that names no columns means the primary key.
func (t *declaredTable) links(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `select id, "table", "from", coalesce("to", '')
		from pragma_foreign_key_list(?) order by id, seq`, t.name)
	if err != nil {
		return err
	}
	defer rows.Close()
	last := -1
	for rows.Next() {
		var id int
		var table, from, to string
		if err := rows.Scan(&id, &table, &from, &to); err != nil {
			return err
		}
		if id != last {
			t.foreign = append(t.foreign, foreignKey{table: table})
		}
		last = id
		k := &t.foreign[len(t.foreign)-1]
		k.from, k.to = append(k.from, from), append(k.to, to)
	}
	return rows.Err()
}

// tableDraft drafts a description of the tables of a public database.
type tableDraft struct {
	*draftJob
	db    *sql.DB
	list  []declaredTable
	below map[string]bool // the tables that may be part of the description
	used  map[string]bool
	seen  []draft.Recognised
	notes []string
}

// fromDatabase drafts a description of the tables of a public database, from the root down. Which
// rows belong to which is read from the declared keys, and everything else from the rows.
func (j *draftJob) fromDatabase(ctx context.Context, path string) error {
	db, err := openDatabase(path, "ro")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	j.inputs = append(j.inputs, path)
	d := tableDraft{draftJob: j, db: db, used: map[string]bool{}}
	if d.list, err = declared(ctx, db); err != nil {
		return located(path, err)
	}
	root, err := d.root()
	if err != nil {
		return err
	}
	d.reach(root.name)
	t, err := d.table(ctx, root, nil)
	if err == nil && len(t.Children) == 0 {
		err = inputf("no rows of another table belong to those of %s: want several tables, or one as a "+
			"file, such as CSV", root.name)
	}
	if err == nil {
		err = t.Validate()
	}
	if err != nil {
		return located(path, err)
	}
	j.note("bounds, levels and largest numbers of rows were copied from %s: no guarantee holds for its "+
		"rows. Review the description, widen what can be larger, and set ordered where the order of rows "+
		"has a meaning", path)
	for _, note := range d.notes {
		j.note("%s", note)
	}
	j.describe(d.seen)
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	err = j.saveJSON(j.out, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil || j.out == stdio {
		return err
	}
	r := draftResult{Schema: j.out, Columns: len(t.Schema.Columns()), Recognised: d.seen}
	var names []string
	for _, one := range t.All() {
		names = append(names, one.Name)
	}
	return j.result(r, func() string {
		return fmt.Sprintf("%s: the tables %s", j.out, strings.Join(names, ", "))
	})
}

// root returns the table whose rows are protected: that of --root, or the only one that has rows in
// other tables and belongs to none.
func (d *tableDraft) root() (t declaredTable, err error) {
	var names []string
	for _, own := range d.list {
		if own.name == d.rootTable {
			return own, nil
		}
		if d.owns(own) && len(own.foreign) == 0 {
			t, names = own, append(names, own.name)
		}
	}
	if d.rootTable == "" && len(names) == 0 {
		return t, inputf("no table has rows in others and belongs to none, as the declared foreign keys say: " +
			"want --root with the table whose rows are protected, or one table as a file, such as CSV")
	}
	if d.rootTable != "" || len(names) != 1 {
		return t, usagef("--root: %q: want the table whose rows are protected with all that belongs to "+
			"them; tables that could be are %s", d.rootTable, listed(names, "or"))
	}
	return t, nil
}

// owns reports whether rows of some table belong to those of a table.
func (d *tableDraft) owns(t declaredTable) bool {
	return slices.ContainsFunc(d.list, func(o declaredTable) bool {
		return slices.ContainsFunc(o.foreign, func(k foreignKey) bool { return k.table == t.name })
	})
}

// reach finds the root and all tables whose rows may belong to its rows.
func (d *tableDraft) reach(root string) {
	d.below = map[string]bool{root: true}
	for n := 0; n < len(d.below); {
		n = len(d.below)
		for _, t := range d.list {
			if slices.ContainsFunc(t.foreign, func(k foreignKey) bool { return d.below[k.table] }) {
				d.below[t.name] = true
			}
		}
	}
}

// table drafts a table and the tables below it. link names the columns that hold the keys of the
// rows above a row, from the root down; none for the root.
func (d *tableDraft) table(ctx context.Context, own declaredTable, link []string) (t records.Tables,
	err error) {
	d.used[own.name] = true
	t.Name, t.Parents = own.name, link
	keys := slices.DeleteFunc(slices.Clone(own.primary), func(c string) bool {
		return slices.Contains(link, c) || !d.owns(own) && slices.ContainsFunc(own.foreign,
			func(k foreignKey) bool { return !d.below[k.table] && slices.Contains(k.from, c) })
	})
	if len(keys) == 1 {
		t.Key = keys[0]
	}
	names := append(slices.Clone(link), keys...)
	for _, k := range own.foreign {
		if d.below[k.table] {
			names = append(names, k.from...)
		} else if !slices.Contains(d.public.Skip, k.from[0]) {
			d.notes = append(d.notes, fmt.Sprintf("table %s: %s names rows of table %s, which is not below the "+
				"first one: it is a column like others", own.name, strings.Join(k.from, ", "), k.table))
		}
	}
	if t.Schema, err = d.schema(ctx, own, names, len(link) == 0); err != nil {
		return t, err
	}
	if len(link) > 0 {
		if t.Most, err = d.most(ctx, own.name, link); err != nil {
			return t, err
		}
		for _, c := range t.Schema.Columns() {
			if t.Most > 1 && c.Kind() == records.DatetimeColumn && !c.HasMissing() {
				d.notes = append(d.notes, fmt.Sprintf("table %s may have \"ordered\": true, \"gaps\": %q: its "+
					"rows are then in order of time, also drawn ones", t.Name, c.Name()))
			}
		}
	}
	for _, child := range d.list {
		for _, k := range child.foreign {
			if k.table != own.name || d.used[child.name] {
				continue
			}
			below, ok := below(k, own.primary, append(slices.Clone(link), t.Key))
			if !ok {
				d.notes = append(d.notes, fmt.Sprintf("table %s is left out: it does not name the keys of "+
					"all tables above it; a view can join them", child.name))
				continue
			}
			c, err := d.table(ctx, child, below)
			if err != nil {
				return t, err
			}
			if len(c.Schema.Columns()) == 0 {
				d.notes = append(d.notes, fmt.Sprintf("table %s is left out, with all below it: it has no "+
					"columns besides keys and identifiers", child.name))
				continue
			}
			t.Children = append(t.Children, c)
		}
	}
	return t, nil
}

// below returns the columns of a foreign key that hold the given keys of the table that it names.
func below(k foreignKey, primary, keys []string) (columns []string, ok bool) {
	for _, key := range keys {
		at := slices.Index(k.to, key)
		if at < 0 && slices.Index(primary, key) < len(k.to) && slices.Contains(primary, key) &&
			k.to[slices.Index(primary, key)] == "" {
			at = slices.Index(primary, key)
		}
		if at < 0 {
			return nil, false
		}
		columns = append(columns, k.from[at])
	}
	return columns, len(columns) == len(k.from)
}

// schema drafts the columns of a table other than its keys; none if there are no others.
func (d *tableDraft) schema(ctx context.Context, t declaredTable, keys []string, root bool) (
	s records.Schema, err error) {
	var names, list []string
	for _, c := range t.columns {
		if !slices.Contains(keys, c) && !slices.Contains(d.public.Skip, c) {
			names, list = append(names, c), append(list, quoteName(c))
		}
	}
	if len(names) == 0 {
		return s, nil
	}
	rows, err := d.db.QueryContext(ctx, fmt.Sprintf("select %s from %s", strings.Join(list, ", "),
		quoteName(t.name)))
	if err != nil {
		return s, err
	}
	defer rows.Close()
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write(names)
	cells, at := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range cells {
		at[i] = &cells[i]
	}
	line := make([]string, len(names))
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return s, err
		}
		for i, c := range cells {
			line[i] = strings.Join(strings.Fields(c.String), " ") // a line break would end the row
		}
		_ = w.Write(line)
	}
	w.Flush()
	if err := rows.Err(); err != nil {
		return s, err
	}
	public := d.public
	public.Skip = nil
	if !root {
		public.Label, public.Target = "", ""
	}
	s, seen, err := draft.Recognise(&text, records.CSV{Header: true, Missing: usualMissing[:1],
		Limits: records.Limits{Plain: true}}, public)
	for _, r := range seen {
		r.Column = t.name + " " + r.Column
		d.seen = append(d.seen, r)
	}
	if len(seen) > 0 && !slices.ContainsFunc(seen, hasValues) {
		return records.Schema{}, nil
	}
	if err != nil {
		return s, fmt.Errorf("table %s: %w", t.name, err)
	}
	if root {
		return s, nil
	}
	return withoutIdentifiers(s)
}

// hasValues reports whether a column is left that is no identifier.
func hasValues(r draft.Recognised) bool { return r.Kind != 0 && r.Kind != records.IdentifierColumn }

// withoutIdentifiers returns the schema without columns of identifiers, which tables below the root
// may not have.
func withoutIdentifiers(s records.Schema) (records.Schema, error) {
	return records.NewSchema(slices.DeleteFunc(s.Columns(), func(c records.Column) bool {
		return c.Kind() == records.IdentifierColumn
	})...)
}

// most returns the largest number of rows with the same keys of the rows above, at least 1.
func (d *tableDraft) most(ctx context.Context, table string, link []string) (n int, err error) {
	var list []string
	for _, c := range link {
		list = append(list, quoteName(c))
	}
	err = d.db.QueryRowContext(ctx, fmt.Sprintf("select coalesce(max(n), 1) from (select count(*) n "+
		"from %s group by %s)", quoteName(table), strings.Join(list, ", "))).Scan(&n)
	return min(n, records.MostRows), err
}

// quoteName quotes a name for SQL.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
