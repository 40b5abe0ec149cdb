package parquet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Dataset describes a folder of Parquet files with a card, in the layout of the Hugging Face hub.
// The folder has files data/train-00000-of-00003.parquet and so on, and a README.md whose header
// describes them.
type Dataset struct {
	Name      string   // the title of the card; "" means "Synthetic records"
	Split     string   // the name of the split, in the files' names; "" means "train"
	ShardRows int      // records per file; 0 means 1,048,576
	Tags      []string // tags in the header of the card
	Text      string   // text of the card, in Markdown: for example a generator's guarantee
}

// shardRows is the default number of records of a file.
const shardRows = 1 << 20

func (d Dataset) withDefaults() Dataset {
	if d.Name == "" {
		d.Name = "Synthetic records"
	}
	if d.Split == "" {
		d.Split = "train"
	}
	if d.ShardRows == 0 {
		d.ShardRows = shardRows
	}
	return d
}

func (d Dataset) validate() error {
	var c param.Checker
	plain := strings.Trim(d.Split, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
	c.OK(plain == "", "parquet.Dataset.Split", fmt.Sprintf("%.40q", d.Split),
		"letters, digits and underscores")
	c.OK(d.ShardRows > 0, "parquet.Dataset.ShardRows", d.ShardRows, "a positive number, or 0")
	return c.Err()
}

// WriteDataset writes records that arrive in parts, such as a generator's stream, into a folder.
// Its memory does not grow with the number of records. It creates the folder if necessary. A folder
// that already holds such files is an error.
//
// Errors: *[param.Error] for a mistake in the description, a schema that is not of a table and
// records of another schema; the first error of the parts; errors of the file system. After an
// error no card is written.
func WriteDataset(folder string, d Dataset, s records.Schema,
	parts iter.Seq2[records.Data, error]) error {
	d = d.withDefaults()
	if err := d.validate(); err != nil {
		return err
	}
	if parts == nil {
		return param.New("parquet.WriteDataset.parts", nil, "a sequence of records")
	}
	if _, err := records.NewFrameBuilder(s); err != nil { // for its errors about the schema
		return err
	}
	if _, err := os.Lstat(filepath.Join(folder, card)); err == nil {
		return fmt.Errorf("parquet: %s: %w", filepath.Join(folder, card), os.ErrExist)
	}
	if err := os.MkdirAll(filepath.Join(folder, "data"), 0o777); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	there, err := os.ReadDir(filepath.Join(folder, "data"))
	for _, e := range there { // the names of the files are known at the end only
		if err == nil && strings.HasPrefix(e.Name(), d.Split+"-") {
			err = fmt.Errorf("%s: %w", e.Name(), os.ErrExist)
		}
	}
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	w := &shards{folder: folder, dataset: d, schema: s}
	for part, err := range parts {
		if err == nil {
			err = w.add(part)
		}
		if err != nil {
			w.abandon()
			return err
		}
	}
	return w.finish()
}

// card is the file that describes a folder.
const card = "README.md"

// shards are the files being written. They get their final names when the number of files is known.
type shards struct {
	folder  string
	dataset Dataset
	schema  records.Schema
	paths   []string
	file    *os.File
	buffer  *bufio.Writer
	out     *writer
	room    int // the number of records that still fit into the current file
}

func (w *shards) add(part records.Data) error {
	f, err := frameOf(part, w.schema)
	if err != nil {
		return err
	}
	for lo := 0; lo < f.Len(); {
		if w.out == nil {
			if err := w.open(); err != nil {
				return err
			}
		}
		n := min(f.Len()-lo, w.room)
		if err := w.out.write(f.Slice(lo, lo+n)); err != nil {
			return fmt.Errorf("parquet: writing: %w", err)
		}
		lo, w.room = lo+n, w.room-n
		if w.room == 0 {
			if err := w.close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *shards) open() error {
	path := filepath.Join(w.folder, "data",
		fmt.Sprintf("%s-%05d.parquet", w.dataset.Split, len(w.paths)))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	w.paths = append(w.paths, path)
	w.file, w.buffer, w.room = file, bufio.NewWriter(file), w.dataset.ShardRows
	w.out = newWriter(w.buffer, w.schema)
	return nil
}

func (w *shards) close() error {
	err := w.out.file.Close()
	if err == nil {
		err = w.buffer.Flush()
	}
	if closed := w.file.Close(); err == nil {
		err = closed
	}
	w.out = nil
	if err != nil {
		return fmt.Errorf("parquet: writing: %w", err)
	}
	return nil
}

// abandon keeps the complete files, without a card.
func (w *shards) abandon() {
	if w.out != nil {
		w.file.Close()
		os.Remove(w.paths[len(w.paths)-1])
	}
}

// finish names the files and writes the card.
func (w *shards) finish() error {
	if len(w.paths) == 0 { // without records, write one empty file
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.out != nil {
		if err := w.close(); err != nil {
			return err
		}
	}
	for i, path := range w.paths {
		name := fmt.Sprintf("%s-%05d-of-%05d.parquet", w.dataset.Split, i, len(w.paths))
		if err := os.Rename(path, filepath.Join(w.folder, "data", name)); err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.folder, card), []byte(w.card()), 0o666); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// card returns the text of the card, after a header in YAML whose texts are quoted as in JSON.
func (w *shards) card() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("---")
	line("pretty_name: %s", quoted(w.dataset.Name))
	if len(w.dataset.Tags) > 0 {
		line("tags:")
	}
	for _, tag := range w.dataset.Tags {
		line("- %s", quoted(tag))
	}
	line("configs:\n- config_name: default\n  data_files:\n  - split: %s\n    path: %s",
		quoted(w.dataset.Split), quoted("data/"+w.dataset.Split+"-*"))
	line("dataset_info:\n  features:")
	for _, c := range w.schema.Columns() {
		line("  - name: %s\n    dtype: %s", quoted(c.Name()), dtype(c))
	}
	line("---\n")
	line("# %s\n\n%s", strings.Join(strings.Fields(w.dataset.Name), " "), w.dataset.Text)
	return b.String()
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(out)
}

func dtype(c records.Column) string {
	switch {
	case !c.IsNumber():
		return "string"
	case c.Kind() == records.IntegerColumn:
		return "int64"
	}
	return "float64"
}
