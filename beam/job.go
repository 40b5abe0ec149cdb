package beam

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // paths without a scheme
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"       // the default runner

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Job describes where the records are and how pipelines run. All fields except Key are public.
type Job struct {
	// Shards are read by the source that was registered by RegisterSource under the name Source.
	Source string
	Shards []Shard
	// Rows makes a PCollection of Row, to be used instead of shards. Parts says how its rows are
	// grouped.
	Rows  func(s sdk.Scope) sdk.PCollection
	Parts Parts

	// Key seals sums. Other processes get it by ProvideKeys.
	Key mechanism.Key
	// Folder is a path on any of Beam's file systems that the program imports. Workers write to it,
	// and this process reads from it. The files in it are sealed.
	Folder string
	Runner string // the name of a Beam runner; "" for Prism in this process
	// Groups is the number of groups in which sums are merged first; 0 for the square root of the
	// number of shards.
	Groups int
	// Workers is the number of goroutines that add up one shard; 0 for all cores of the machine.
	Workers int
	// Attempts is the number of times that a failing pipeline is started before its error is
	// returned; 0 for 1. Another attempt costs no privacy, since noise is drawn after the pipeline
	// has ended.
	Attempts int
}

func (j Job) check(schema records.Schema, l *ledger.Ledger) error {
	var k param.Checker
	k.OK(j.Key.ID() != "", "beam.Job.Key", "none", "a key made by mechanism.NewKey")
	fs, err := filesystem.New(context.Background(), j.Folder)
	if err == nil {
		err = fs.Close()
	}
	k.OK(j.Folder != "" && err == nil, "beam.Job.Folder", j.Folder, "a path that workers and this "+
		"process share, on a file system that the program imports")
	k.OK(hasRunner(j.Runner), "beam.Job.Runner", j.Runner, wantRunner)
	k.OK((j.Rows == nil) != (j.Source == ""), "beam.Job.Source", j.Source,
		"either the name of a source or a function Rows")
	k.OK(j.Groups >= 0, "beam.Job.Groups", j.Groups, "a number of groups, or 0 for the default")
	k.OK(j.Workers >= 0, "beam.Job.Workers", j.Workers, "a number of goroutines, or 0 for all cores")
	k.OK(j.Attempts >= 0, "beam.Job.Attempts", j.Attempts, "a number of attempts, or 0 for 1")
	k.OK(j.Rows == nil || len(j.Shards) == 0, "beam.Job.Shards", len(j.Shards),
		"no shards if Rows is set")
	if j.Rows == nil {
		j.checkShards(&k)
	} else {
		p := j.Parts.withDefaults()
		k.OK(p.N > 0 && p.N <= 1<<20, "beam.Parts.N", p.N, "a number of parts, or 0 for the default")
		k.OK((schema.Sparse() && schema.Classes() == 0 || schema.Kind() == records.MixedTable) &&
			schema.RowsPerPerson() == 0, "beam.Job.Rows", schema.String(),
			"rows of tables, or sets without classes, and no persons of several rows")
		if l != nil { // the unit of rows is public
			k.Add(records.CheckUnit("beam.Job.Parts.Unit", p.Unit, l.Unit()))
		}
	}
	return k.Err()
}

func (j Job) checkShards(k *param.Checker) {
	if _, err := source(j.Source); err != nil {
		k.Add(err)
	}
	k.OK(len(j.Shards) > 0, "beam.Job.Shards", len(j.Shards), "at least one")
	seen := map[string]bool{}
	for i, s := range j.Shards {
		k.OK(s.Name != "" && !seen[s.Name], fmt.Sprintf("beam.Job.Shards[%d].Name", i), s.Name,
			"a name that no other shard has")
		seen[s.Name] = true
	}
}

// settings returns the settings of a pass of the job.
func (j Job) settings(w Work) Settings {
	return Settings{Work: w, Source: j.Source, Key: j.Key.ID(), Workers: j.Workers,
		Groups: cmp.Or(j.Groups, int(math.Ceil(math.Sqrt(float64(len(j.names()))))))}
}

// sums runs the pipeline of one pass and returns its sums.
func (j Job) sums(ctx context.Context, w Work, schema records.Schema, pass any) (*mechanism.Partial,
	error) {
	if p, ok := pass.(synth.Pass); ok {
		var err error
		if pass, err = seal(j.Key, p); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(pass)
	if err != nil {
		return nil, err
	}
	counting, err := w.counting()
	if err != nil {
		return nil, err
	}
	hold(j.Key)
	all, err := counting(text, j.Key.ID(), backend(j.Workers))
	if err != nil {
		return nil, err
	}
	var failed error
	for range max(j.Attempts, 1) {
		if failed = j.attempt(ctx, w, schema, text, all); failed == nil || ctx.Err() != nil {
			break
		}
		all.Reset()
	}
	return all, errors.Join(failed, ctx.Err())
}

// attempt runs the pipeline once and merges the sums that it has written.
func (j Job) attempt(ctx context.Context, w Work, schema records.Schema, pass []byte,
	all *mechanism.Partial) error {
	file := join(j.Folder, "privgen-"+rand.Text()+".sealed")
	p, s := sdk.NewPipelineWithRoot()
	if err := j.build(s, w, schema, pass, file); err != nil {
		return err
	}
	if _, err := sdk.Run(ctx, cmp.Or(j.Runner, defaultRunner), p); err != nil {
		return fmt.Errorf("beam: %w", err)
	}
	sealed, err := readFile(ctx, file)
	if err != nil {
		return fmt.Errorf("beam: reading the pipeline's sums: %w", err)
	}
	sawSealed(sealed)
	if err := all.Open(j.Key, sealed); err != nil {
		return err
	}
	return j.complete(all)
}

// sawSealed is called with the sealed sums that this process reads; tests replace it.
var sawSealed = func([]byte) {}

// sumShards is Sum; tests replace it by functions that repeat work, as runners may.
var sumShards = Sum

// build adds the steps of one pass to a pipeline.
func (j Job) build(s sdk.Scope, w Work, schema records.Schema, text []byte, file string) error {
	set := j.settings(w)
	pass := sdk.Create(s, text)
	var sums sdk.PCollection
	if j.Rows == nil {
		sums = sumShards(s, set, pass, sdk.Reshuffle(s, sdk.CreateList(s, j.Shards)))
	} else {
		known, err := schema.MarshalJSON()
		if err != nil {
			return err
		}
		sums = SumRows(s, set, j.Parts, known, pass, j.Rows(s))
	}
	sdk.ParDo(s, &writeFn{File: file}, Merge(s, set, pass, sums))
	return nil
}

// complete returns an error if sums of a shard, or of a part of the rows, are missing.
func (j Job) complete(all *mechanism.Partial) error {
	names := slices.Sorted(slices.Values(j.names()))
	if got := all.Shards(); !slices.Equal(got, names) {
		return fmt.Errorf("beam: the pipeline returned the sums of %d shards, want all %d", len(got),
			len(names))
	}
	return nil
}

// names returns the names of all shards, or of all parts of rows.
func (j Job) names() (names []string) {
	for _, s := range j.Shards {
		names = append(names, s.Name)
	}
	if parts := j.Parts.withDefaults(); j.Rows != nil {
		for _, part := range parts.numbers() {
			names = append(names, parts.name(part))
		}
	}
	return names
}

// writeFn writes the sealed sums to the file that the driver reads.
type writeFn struct{ File string }

// ProcessElement writes one file, which appears whole or not at all if the file system can rename.
func (f *writeFn) ProcessElement(ctx context.Context, sealed []byte, emit func(string)) error {
	if err := writeFile(ctx, f.File, func(w io.Writer) error {
		_, err := w.Write(sealed)
		return err
	}); err != nil {
		return err
	}
	emit(f.File)
	return nil
}

func join(folder, name string) string {
	if i := len(folder); i > 0 && folder[i-1] == '/' {
		return folder + name
	}
	return folder + "/" + name
}

// writeFile writes a temporary file and renames it. A failed or concurrent attempt therefore leaves
// no incomplete file.
func writeFile(ctx context.Context, file string, write func(io.Writer) error) (err error) {
	fs, err := filesystem.New(ctx, file)
	if err != nil {
		return err
	}
	defer fs.Close()
	rename, can := fs.(filesystem.Renamer)
	to := file
	if can {
		to = file + "." + rand.Text() + ".tmp"
	}
	out, err := fs.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	if err := errors.Join(write(out), out.Close()); err != nil {
		if remove, ok := fs.(filesystem.Remover); ok {
			err = errors.Join(err, remove.Remove(ctx, to))
		}
		return err
	}
	if can {
		return renamed(ctx, fs, file, to, rename.Rename(ctx, to, file))
	}
	return nil
}

// renamed returns the error of renaming a complete file, or nil if the target is there with all
// bytes. Some stores rename by copying and removing, and may forbid the latter.
func renamed(ctx context.Context, fs filesystem.Interface, file, from string, err error) error {
	if err == nil {
		return nil
	}
	want, failed := digest(ctx, fs, from)
	got, missing := digest(ctx, fs, file)
	if failed != nil || missing != nil || got != want {
		return err
	}
	return nil
}

func digest(ctx context.Context, fs filesystem.Interface, file string) (sum [32]byte, err error) {
	in, err := fs.OpenRead(ctx, file)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(h, in)
	return [32]byte(h.Sum(nil)), errors.Join(err, in.Close())
}

// readFile reads a file and then removes it if the file system can and may.
func readFile(ctx context.Context, file string) ([]byte, error) {
	fs, err := filesystem.New(ctx, file)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	in, err := fs.OpenRead(ctx, file)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	if remove, ok := fs.(filesystem.Remover); ok {
		_ = remove.Remove(ctx, file) // a store may forbid it; the sums are paid for, and sealed
	}
	return b, nil
}
