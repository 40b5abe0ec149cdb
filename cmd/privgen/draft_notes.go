package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen/draft"
)

// mostNotes is how many columns of public rows are described on standard error. The file of notes
// describes all of them.
const mostNotes = 60

// describe says on standard error what each column was taken for.
func (j *draftJob) describe(seen []draft.Recognised) {
	for i, r := range seen {
		if i == mostNotes && len(seen) > mostNotes+1 {
			j.note("%d more columns: see the notes beside the schema, or --json", len(seen)-i)
			return
		}
		j.note("%s", recognised(r))
	}
}

// recognised says on one line what a column was taken for.
func recognised(r draft.Recognised) string {
	text := fmt.Sprintf("column %.60q: %s", r.Column, r.As)
	if how := share(r); r.Kind != 0 && (r.Missing > 0 || r.Strays > 0) {
		text += " (" + how + ")"
	}
	if r.Or != "" {
		text += "; or " + r.Or
	}
	return text
}

// share says how many cells of a column have the form that was recognised.
func share(r draft.Recognised) string {
	held := r.Cells - r.Missing
	text := fmt.Sprintf("all of %d cells", held)
	if r.Strays > 0 {
		text = fmt.Sprintf("%d of %d cells, the others have another form", held-r.Strays, held)
	}
	if r.Missing == 0 {
		return text
	}
	text += fmt.Sprintf("; %d of %d missing", r.Missing, r.Cells)
	if len(r.Absent) > 0 {
		text += fmt.Sprintf(", which some write as %.40q", r.Absent[:min(len(r.Absent), 5)])
	}
	return text
}

// notesFile returns the name of the file that explains a schema.
func notesFile(schema string) string {
	return strings.TrimSuffix(schema, filepath.Ext(schema)) + ".notes.txt"
}

// notesStart begins every file of notes.
const notesStart = "What the columns of "

// isNotes reports whether a file holds the notes of an earlier draft, which may be replaced.
func isNotes(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(notesStart))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == notesStart
}

// writeNotes explains a schema: for each column, what it was taken for, from how many cells, and
// what else it could be.
func writeNotes(w io.Writer, rows, schema string, seen []draft.Recognised) error {
	var b strings.Builder
	fmt.Fprintf(&b, notesStart+"%s were taken for. Review them in %s.\n", filepath.Base(rows),
		filepath.Base(schema))
	for _, r := range seen {
		fmt.Fprintf(&b, "\n%q\n", r.Column)
		if r.Kind != 0 {
			fmt.Fprintf(&b, "  type  %v\n", r.Kind)
		}
		fmt.Fprintf(&b, "  is    %s\n", r.As)
		if r.Kind != 0 {
			fmt.Fprintf(&b, "  from  %s\n", share(r))
		}
		if r.Or != "" {
			fmt.Fprintf(&b, "  or    %s\n", r.Or)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
