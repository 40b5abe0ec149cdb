package main

// sqlMutants returns faults in ledgers in databases. Tests that need a server are skipped without
// an installed server. Their mutants then survive.
func sqlMutants() []mutant {
	const sqll = "connect/sqlledger"
	contract := at(sqll, "ContractSQLite")
	forgets := at(sqll, "ServerThatForgets")
	const arrow = "connect/arrow"
	const pq = "connect/parquet"
	stated := at(pq, "StatedSizes")
	return []mutant{
		{Name: "connect/parquet/texts are not counted", In: pq, Tests: stated,
			Old: "return errIf(values != 0 || len(page) > 0)", New: "return nil",
			Why: "parquet-go prints what a file states"},
		{Name: "accountant/parts of groups are bounded apart", In: "accountant",
			Tests: at("accountant", "PartsOfAJournal"), Old: "\t\troom -= p.N\n", New: "",
			Why: "a line of a kilobyte opens millions of ledgers"},
		{Name: "accountant/a request may cost any time", In: "accountant",
			Tests: at("accountant", "CostlyPrices"), Old: "if len(costly) > mostCostly ||",
			New: "if", Why: "one client blocks the ledger for all others"},
		{Name: "internal/network/large networks are built to be checked", In: "internal/network",
			Tests: at(".", "PlansOfLargeRecords"),
			Old:   "(records.Limits{}).CheckParameters(\"\", params) != nil", New: "params < 0",
			Why: "a schema of 64 bytes takes gigabytes"},
		{Name: "connect/arrow/one bad index ends a file", In: arrow, Tests: at(arrow, "BadIndex"),
			Old: "if place < 0 || place >= values.Len() || cell.text == nil",
			New: "if cell.text == nil", Why: "the contents of one row decide whether others are read"},
		{Name: "connect/arrow/one bad text ends a file", In: arrow, Tests: at(arrow, "BadText"),
			Old: "defer func() { _ = recover() }()\n\treturn c.text", New: "return c.text",
			Why: "the contents of one row decide whether others are read"},
		{Name: "connect/sqlrows/the database's words are passed on", In: "connect/sqlrows",
			Tests: at("connect/sqlrows", "HoldNoCell"),
			Old:   "in.rows.Err(); err != nil {\n\t\t\t\treturn nil, false, failed(err)",
			New:   "in.rows.Err(); err != nil {\n\t\t\t\treturn nil, false, err",
			Why:   "an error shows the value of a private cell"},
		{Name: "connect/sqlledger/adds after any line", In: sqll, Tests: contract,
			Old: "if head != after {", New: "if head.Line+1 != lines[0].Line {",
			Why: "two lines are decided on with the same total"},
		{Name: "connect/sqlledger/the last line is locked by nothing", In: sqll, Tests: contract,
			Old: "h.name = $1`,\n\t\topenRead:", New: "h.name = $1 AND false`,\n\t\topenRead:",
			Why: "the transaction does not compare its position with the last line"},
		{Name: "connect/sqlledger/an auditor's journal is written", In: sqll, Tests: contract,
			Old: "if j.mode == store.Read {\n\t\treturn accountant.ErrReadOnly\n\t}\n\tif len(lines)",
			New: "if len(lines)",
			Why: "a journal opened for reading can be written"},
		{Name: "connect/sqlledger/another line at the position is believed", In: sqll, Tests: contract,
			Old: "l.Line == r.after.Line && l.Hash != r.after.Hash", New: "false",
			Why: "a restored backup that has grown again is not noticed"},
		{Name: "connect/sqlledger/a shorter journal is believed", In: sqll,
			Tests: contract,
			Old:   "case r.head.Line < r.after.Line:", New: "case false:",
			Why: "a restored backup is taken for a damaged journal"},
		{Name: "connect/sqlledger/lines may be missing at the end", In: sqll,
			Tests: at(sqll, "ChangedTables/.*/SQLite"),
			Old:   "case r.last != r.head:", New: "case false:",
			Why: "the total counts only the remaining lines"},
		{Name: "connect/sqlledger/a file has two names", In: sqll, Tests: at(sqll, "NamesOfAFile"),
			Old: "err != nil || n > 1 {", New: "err != nil {",
			Why: "two logs of one database: the budget is spent under each name"},
		{Name: "connect/sqlledger/everybody reads the file", In: sqll,
			Tests: at(sqll, "FilesAreTheOwners"),
			Old:   "os.O_EXCL, 0o600)", New: "os.O_EXCL, 0o644)",
			Why: "a ledger in a file can be read by every user of the machine"},
		{Name: "connect/sqlledger/a newer schema is written", In: sqll,
			Tests: at(sqll, "NewerSchemaIsRefused/SQLite"),
			Old:   "case err == nil:\n\t\terr = j.fits(version)", New: "case err == nil:",
			Why: "additions of a later version are lost"},
		{Name: "connect/sqlledger/a file that was replaced is read", In: sqll,
			Tests: at(sqll, "Replaced"),
			Old:   "if f.info == nil || os.SameFile(f.info, info) {", New: "if true {",
			Why: "there are two files, each with the whole budget"},
		{Name: "connect/sqlledger/an answer from a file that was replaced", In: sqll,
			Tests: at(sqll, "ReplacedWhileWriting"),
			Old:   "err = j.db.check() // a line", New: "err = nil // a line",
			Why: "the line of a yes is gone"},
		{Name: "connect/sqlledger/the log is not synchronised", In: sqll,
			Tests: contract,
			Old:   "_synchronous=FULL", New: "_synchronous=OFF",
			Why: "a power failure loses lines whose reservations were granted"},
		{Name: "connect/sqlledger/a server may answer before it writes", In: sqll, Tests: forgets,
			Old: "NOT IN ('on', 'remote_apply')", New: "NOT IN ('on', 'remote_apply', 'off')",
			Why: "a crash loses lines whose reservations were granted"},
		{Name: "connect/sqlledger/a server without fsync", In: sqll,
			Tests: at(sqll, "ServerWithoutFsync"),
			Old:   `durable != "on"`, New: `durable == ""`,
			Why: "a power failure loses lines whose reservations were granted"},
	}
}

// httpMutants returns faults in ledgers over HTTP.
func httpMutants() []mutant {
	const web = "connect/httpledger"
	leave := at(web, "NothingIsExposedWithoutLeave")
	return []mutant{
		{Name: "connect/httpledger/leave is not asked for", In: web, Tests: leave,
			Old: `r.PathValue("ledger")); err != nil {`,
			New: `r.PathValue("ledger")); false && err != nil {`,
			Why: "anybody can read and reserve"},
		{Name: "connect/httpledger/an auditor's leave reserves", In: web, Tests: leave,
			Old: `{id}", Reserve, h.reserve}`, New: `{id}", Audit, h.reserve}`,
			Why: "whoever may read may also spend"},
		{Name: "connect/httpledger/no authoriser is needed", In: web, Tests: leave,
			Old: "k.OK(c.Authorise != nil,", New: "k.OK(true,",
			Why: "a forgotten setting exposes everything"},
		{Name: "connect/httpledger/a transaction has no ID", In: web, Tests: at(web, "AskedAgain"),
			Old: "\tt.ID = r.PathValue(\"id\")\n",
			New: "\tt.ID = r.PathValue(\"id\")\n\tdefer func() { t.ID = \"\" }()\n",
			Why: "a retry after a lost answer is charged twice"},
		{Name: "connect/httpledger/any body is read", In: web, Tests: at(web, "HostileRequests"),
			Old: "http.MaxBytesReader(w, r.Body, h.config.MaxBody)", New: "r.Body",
			Why: "a request can use any amount of memory"},
	}
}
