package beam

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Drawing describes the synthetic rows to draw and where to write them.
type Drawing struct {
	Rows   int64  // number of rows in all
	Shards int    // number of files; 0 for one file for each million rows
	Seed   uint64 // the same seed, rows and shards give the same files
	Folder string // for the files, on any of Beam's file systems
	Runner string // the name of a Beam runner; "" for Prism in this process
}

// mostRows is the largest number of rows of one file.
const mostRows = 1 << 30

// rowRange is the rows of one file.
type rowRange struct {
	Shard, Of int
	First     int // row of the whole draw
	Rows      int
	Seed      uint64
	Draw      uint64 // seed of the whole draw
}

// Sample draws synthetic rows of a table in parallel. It writes each shard to a Parquet file of its
// own (part-00000-of-00017.parquet) and returns the files' names. A file of such a name that exists
// is an error, and a failed draw's files are removed if the file system can. Sampling is
// post-processing and costs no privacy. Identifiers are unique in all files together. Rows of a
// schema with the constraint records.Unique or records.Determines depend on each other, so they
// need one file.
//
// Errors: *param.Error for invalid numbers and for a generator of records other than tables; errors
// of the generator's Save and of the runner; fs.ErrExist.
func Sample(ctx context.Context, g *synth.Generator, d Drawing) ([]string, error) {
	d.Shards = cmp.Or(d.Shards, int((d.Rows+999_999)/1_000_000))
	var k param.Checker
	k.OK(d.Rows >= 0, "beam.Drawing.Rows", d.Rows, "a number of rows")
	k.OK(d.Shards >= 0 && d.Rows <= int64(max(d.Shards, 0))*mostRows, "beam.Drawing.Shards", d.Shards,
		fmt.Sprintf("files of at most %d rows", mostRows))
	k.OK(d.Folder != "", "beam.Drawing.Folder", d.Folder, "a path that workers can write to")
	k.OK(hasRunner(d.Runner), "beam.Drawing.Runner", d.Runner, wantRunner)
	k.OK(g.Schema().Kind() == records.MixedTable, "beam.Sample.g", g.Schema().String(),
		"a generator of tables")
	for _, c := range g.Schema().Constraints() {
		k.OK(d.Shards < 2 || !joinsRows(c), "beam.Drawing.Shards", d.Shards,
			fmt.Sprintf("one file, since this constraint is on all rows together: %s", c))
	}
	k.Add(d.identifies(g.Schema()))
	if err := k.Err(); err != nil {
		return nil, err
	}
	var saved bytes.Buffer
	if err := g.Save(&saved); err != nil {
		return nil, err
	}
	if d.Shards == 0 {
		return nil, nil
	}
	ranges, files := d.ranges(), make([]string, d.Shards)
	for i, r := range ranges {
		files[i] = r.file(d.Folder)
	}
	store, err := filesystem.New(ctx, d.Folder)
	if err != nil {
		return nil, fmt.Errorf("beam: %w", err)
	}
	defer store.Close()
	for _, file := range files {
		if _, err := store.Size(ctx, file); err == nil {
			return nil, fmt.Errorf("beam: %s: %w", file, fs.ErrExist)
		}
	}
	p, s := sdk.NewPipelineWithRoot()
	sdk.ParDo(s, &sampleFn{Folder: d.Folder}, sdk.Reshuffle(s, sdk.CreateList(s, ranges)),
		sdk.SideInput{Input: sdk.Create(s, saved.Bytes())})
	if _, err := sdk.Run(ctx, cmp.Or(d.Runner, defaultRunner), p); err != nil {
		discard(context.WithoutCancel(ctx), store, files)
		return nil, fmt.Errorf("beam: %w", err)
	}
	return files, nil
}

// discard removes the files that are there and may be removed.
func discard(ctx context.Context, store filesystem.Interface, files []string) {
	if remove, ok := store.(filesystem.Remover); ok {
		for _, file := range files {
			_ = remove.Remove(ctx, file)
		}
	}
}

// identifies fails if a column has no identifier for the last row, which the worker of the last
// file would find only after hours.
func (d Drawing) identifies(s records.Schema) error {
	if s.Kind() != records.MixedTable || d.Rows < 1 {
		return nil
	}
	row, err := records.FromValues(s, make([]any, len(s.Columns())))
	if err == nil {
		_, err = records.WithIdentifiers(row, int(d.Rows-1), d.Seed)
	}
	return err
}

// joinsRows reports whether a constraint is on several rows together.
func joinsRows(c records.Constraint) bool {
	var form map[string]any
	text, err := json.Marshal(c)
	return err != nil || param.Decode(text, &form) != nil || form["type"] == "unique" ||
		form["type"] == "determines"
}

// ranges divides the rows into files, each with its own seed.
func (d Drawing) ranges() []rowRange {
	list, first := make([]rowRange, d.Shards), 0
	for i := range list {
		n, rest := d.Rows/int64(d.Shards), d.Rows%int64(d.Shards)
		if int64(i) < rest {
			n++
		}
		list[i] = rowRange{Shard: i, Of: d.Shards, First: first, Rows: int(n),
			Seed: rand.New(rand.NewPCG(d.Seed, uint64(i))).Uint64(), Draw: d.Seed}
		first += int(n)
	}
	return list
}

func (r rowRange) file(folder string) string {
	return join(folder, fmt.Sprintf("part-%05d-of-%05d.parquet", r.Shard, r.Of))
}

// sampleFn draws the rows of a file.
type sampleFn struct {
	Folder string
	g      *synth.Generator
}

// ProcessElement writes one file, which appears whole or not at all if the file system can rename.
func (f *sampleFn) ProcessElement(ctx context.Context, r rowRange, saved []byte,
	emit func(string)) error {
	if f.g == nil {
		var err error
		if f.g, err = privgen.Load(bytes.NewReader(saved)); err != nil {
			return err
		}
	}
	file := r.file(f.Folder)
	err := writeFile(ctx, file, func(w io.Writer) error {
		return parquet.WriteFrames(w, f.g.Schema(), r.identified(f.g.Stream(ctx, r.Rows,
			synth.Seed(r.Seed))))
	})
	if err != nil {
		return err
	}
	emit(file)
	return nil
}

// identified gives the rows of a file the identifiers of the whole draw.
func (r rowRange) identified(parts iter.Seq2[records.Data, error]) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		first := r.First
		for part, err := range parts {
			if err == nil {
				n := part.Len()
				part, err = records.WithIdentifiers(part, first, r.Draw)
				first += n
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}
