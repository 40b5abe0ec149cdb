package main

// linkedMutants returns faults in tables that belong together.
func linkedMutants() []mutant {
	const (
		far = "a root row changes a sum by more than a record may"
		two = "rows of one root row depend on another one's"
	)
	rows := at("records", "ARootContributes|RowsSee|TablesAre|BareRoots")
	whole := at("compose", "Linked|DrawnTables")
	return []mutant{
		{Name: "records/weights for each parent, not for each root", In: "records", Tests: rows,
			Old: "if k+1 == rows || roots[k+1] != roots[k] {",
			New: "if k+1 == rows || own.up[k+1] != own.up[k] {", Why: far},
		{Name: "records/weights that add up to two", In: "records", Tests: rows,
			Old: "out.shares = appendShares(out.shares, k+1-int(out.first[len(out.first)-1]))",
			New: "for r := int(out.first[len(out.first)-1]); r <= k; r++ {\n" +
				"\tout.shares = append(out.shares, float32(2)/float32(k+1-int(out.first[len(out.first)-1])))\n}",
			Why: far},
		{Name: "records/keys of any root", In: "records", Tests: rows,
			Old: "parent := pathOf(path[:len(n.Parents)])",
			New: "parent := pathOf(path[len(n.Parents)-1 : len(n.Parents)])", Why: two},
		{Name: "records/a key of two rows", In: "records", Tests: rows,
			Old: "if _, taken := l.index[i][own]; taken {", New: "if false {",
			Why: "rows move to another row with the key, which another root row may have"},
		{Name: "records/rows of a lost parent go to the first", In: "records", Tests: rows,
			Old: "if i != 1 || !l.implied {\n\t\t\t\treturn false",
			New: "if i != 1 || !l.implied {\n\t\t\t\tl.rows, l.up = append(l.rows, row), append(l.up, 0)\n\t\t\t\treturn true",
			Why: two},
		{Name: "records/as many rows as a parent has", In: "records", Tests: rows,
			Old: "own := keepRows(all[start[p]:start[p+1]], most)", New: "own := all[start[p]:start[p+1]]",
			Why: "more rows are read than the plan states"},
		{Name: "records/the row before is another root's", In: "records", Tests: rows,
			Old: "if k > 0 && own.up[k] == own.up[k-1] {", New: "if k > 0 {", Why: two},
		{Name: "records/rows of a dropped parent stay", In: "records", Tests: rows,
			Old: "} else {\n\t\t\tdelete(l.index[i], key)\n\t\t}", New: "}", Why: two},
		{Name: "records/lines without a root are read", In: "records", Tests: rows,
			Old: "if path[k] = strings.TrimSpace(key); path[k] == \"\" {",
			New: "if path[k] = strings.TrimSpace(key); false {",
			Why: "rows of nobody are a root row that nobody can be removed from"},
		{Name: "records/a ledger of records for tables", In: "records", Tests: whole,
			Old: "func (l *Linked) Unit() string { return UnitUser }",
			New: "func (l *Linked) Unit() string { return UnitRecord }",
			Why: "a guarantee for rows is printed for what protects roots, or none for rows"},
		{Name: "records/any number of rows below the root", In: "records",
			Tests: at("records", "TablesValidate"),
			Old:   "t.Most <= MostRows && most <= MostRows", New: "most <= MostRows",
			Why: "more rows of a root row are read than the schema of its rows states"},
		{Name: "records/customers stated as records", In: "records",
			Tests: at("records", "LinkedDataAreKnown"),
			Old:   "persons || linked) && (promised", New: "persons || linked && false) && (promised",
			Why: "one more row of a customer changes the record, which a ledger of records does not count"},
		{Name: "cmd/privgen/tables are read line by line", In: "cmd/privgen",
			Tests: at("cmd/privgen", "ATextIsNoOther"),
			Old:   "return tableFile{Reader: text, end: end}, nil",
			New: "_ = text\n\tin, end, err = t.app.openPacked(filepath.Join(t.folder, name))\n" +
				"\treturn tableFile{Reader: in, end: end}, err", Why: two},
		{Name: "compose/saved plans that draw other columns", In: "compose", Tests: whole,
			Old: "!ok || w.Known() != known", New: "false && ok && w.Known() != known",
			Why: "the whole budget is spent on what cannot be drawn"},
		{Name: "compose/any tables are read", In: "compose", Tests: whole,
			Old: "ok && l.Tables().Equal(c.tables)", New: "ok && l != nil",
			Why: "more rows are read than the plan states"},
		{Name: "compose/saved plans of other tables", In: "compose", Tests: whole,
			Old: "!p.Schema().Equal(s) || p.Schema().RowsPerPerson() != s.RowsPerPerson()",
			New: "!p.Schema().Equal(s)", Why: "the plan's price is for fewer rows of a root row"},
		{Name: "internal/graphical/known columns are drawn again", In: "internal/graphical",
			Tests: at("internal/graphical", "Completed"),
			Old:   "v.place.view.scale(work, work, v.weights[cell*n:(cell+1)*n])",
			New:   "v.place.view.scale(work, work, v.weights[cell*0:n])",
			Why:   "rows do not depend on their parents"},
		{Name: "internal/graphical/products that lost a cell", In: "internal/graphical",
			Tests: at("internal/graphical", "QuickMessages|Completed"),
			Old:   "return whole > leastTotal", New: "return whole >= 0",
			Why: "rows are drawn from a distribution that lacks cells"},
	}
}
