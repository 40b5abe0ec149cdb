package records

import (
	"errors"
	"io"
	"io/fs"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ReadTables reads the rows of several tables, each from the file with the table's name and the
// ending .csv in a folder, such as os.DirFS("data"). Every file has a header. Columns other than
// keys are read as [CSV.ReadFrame] reads them. Keys are compared byte by byte, without surrounding
// blanks. A line that cannot be read is left out, since it names no root. A text with a line break
// is several lines, which may name other roots: remove line breaks before, or one root's text
// changes others.
//
// Guarantee: see [Link], also for which rows are left out.
// Errors: see [CSV.ReadFrame]; [ErrFormat] unless a file has one column for each key; errors of the
// file system.
func (c CSV) ReadTables(folder fs.FS, t Tables) (*Linked, error) {
	l, err := newLinker(t)
	if err != nil {
		return nil, err
	}
	l.implied = t.bare()
	for i := range l.nodes {
		if i == 0 && l.implied {
			continue
		}
		if err := c.readTable(folder, l, i); err != nil {
			return nil, err
		}
	}
	return l.linked(), nil
}

func (c CSV) readTable(folder fs.FS, l *linker, i int) error {
	n := l.nodes[i]
	c.Header, c.Names, c.FirstRecord = true, nil, false
	file, err := folder.Open(n.Name + ".csv")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in, err := c.frameReader(file, n.Schema)
	if err != nil {
		return err
	}
	var places []int
	for _, name := range n.keyNames() {
		at, err := in.field(name)
		if err != nil {
			return err
		}
		places = append(places, at)
	}
	path := make([]string, len(places))
	in.keep = func(fields [][]byte, fault lineFault) (bool, error) {
		if fault != readable {
			return false, nil
		}
		length := 0
		for k, at := range places {
			path[k] = string(fields[at])
			length += len(path[k])
		}
		if !l.add(i, int32(in.rows.Len()), path) {
			return false, nil
		}
		return true, in.lines.in.spend(valuesPerName + length/8)
	}
	rows, err := readFrame(in)
	if err == nil {
		l.table(i, rows)
	}
	return err
}

// WriteTables writes the rows of several tables to one file for each, as ReadTables reads them. It
// calls create with the name of each file when it has the first part. Keys are new: the rows of
// each table are numbered from 1, through all parts. Its memory does not grow with the number of
// parts.
//
// Errors: those of create, of the files and of the parts; *[param.Error] for parts of other tables.
func (c CSV) WriteTables(create func(name string) (io.WriteCloser, error),
	parts iter.Seq2[*Linked, error]) (err error) {
	var out tablesWriter
	defer func() { err = errors.Join(err, out.close()) }()
	for l, err := range parts {
		if err != nil {
			return err
		}
		if out.files == nil {
			if err := out.open(c, create, l); err != nil {
				return err
			}
		}
		if !l.tables.Equal(out.tables) {
			return param.New("records.CSV.WriteTables.parts", l.tables.Name, "rows of the same tables")
		}
		out.write(l)
	}
	return nil
}

// A tablesWriter writes the rows of several tables, part by part.
type tablesWriter struct {
	tables Tables
	files  []io.Closer
	out    []*frameWriter // nil for a root without columns
	first  []int          // number of rows in the parts before
}

func (w *tablesWriter) open(c CSV, create func(name string) (io.WriteCloser, error),
	l *Linked) error {
	c.Names = nil
	w.tables, w.first = l.tables, make([]int, len(l.nodes))
	for _, n := range l.nodes {
		if n.bare() {
			w.out = append(w.out, nil)
			continue
		}
		file, err := create(n.Name + ".csv")
		if err != nil {
			return err
		}
		w.files = append(w.files, file)
		own, err := c.frameWriter(file, n.file)
		if err != nil {
			return err
		}
		own.header()
		w.out = append(w.out, own)
	}
	return nil
}

func (w *tablesWriter) write(l *Linked) {
	for i, out := range w.out {
		if out != nil {
			rows := l.Keyed(i, w.first)
			for row := range rows.n {
				out.row(rows, row)
			}
		}
	}
	for i := range w.first {
		w.first[i] += l.parts[i].frame.Len()
	}
}

// close writes what is left, and closes the files.
func (w *tablesWriter) close() (err error) {
	for _, out := range w.out {
		if out != nil {
			err = errors.Join(err, out.w.Flush())
		}
	}
	for _, file := range w.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// Keyed returns the rows of table i with their keys, from the root's to their own, and without the
// numbers of their rows. The rows of each table are numbered from 1; before holds how many rows of
// each table came before, and may be nil.
func (l *Linked) Keyed(i int, before []int) *Frame {
	first := before
	if first == nil {
		first = make([]int, len(l.nodes))
	}
	n, own := l.nodes[i], l.parts[i].frame
	at := make([]int32, own.Len()) // each row's own number, then those of its parents
	for k := range at {
		at[k] = int32(k)
	}
	levels := len(n.Parents)
	keys := make([]cells, levels, levels+1)
	if n.Key != "" {
		keys = append(keys, cells{numbers: numbered(at, first[i])})
	}
	for above, level := i, levels-1; level >= 0; level-- {
		for k, row := range at {
			at[k] = l.parts[above].up[row]
		}
		above = l.nodes[above].parent
		keys[level] = cells{numbers: numbered(at, first[above])}
	}
	return &Frame{frameRef: &frameRef{&frameRows{schema: n.file, n: own.Len(),
		cells: append(keys, own.cells[:len(n.Schema.table.columns)]...), home: own.home}}}
}

// numbered returns the keys of rows.
func numbered(rows []int32, first int) []float64 {
	out := make([]float64, len(rows))
	for k, row := range rows {
		out[k] = float64(first + int(row) + 1)
	}
	return out
}
