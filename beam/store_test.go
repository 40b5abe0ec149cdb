package beam_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tables"
)

// keeping is an object store that cannot rename files and forbids to remove them, as one with a
// retention policy does.
type keeping struct{ filesystem.Interface }

var removals atomic.Int64

const scheme = "keeping"

func folderOf(name string) string {
	_, path, _ := strings.Cut(name, "://")
	return path
}

func (keeping) Close() error { return nil }

func (keeping) OpenRead(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(folderOf(name))
}

func (keeping) OpenWrite(_ context.Context, name string) (io.WriteCloser, error) {
	return os.Create(folderOf(name))
}

func (keeping) Size(_ context.Context, name string) (int64, error) {
	info, err := os.Stat(folderOf(name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (keeping) Remove(context.Context, string) error {
	removals.Add(1)
	return errors.New("no permission to remove objects")
}

// copying is such a store that renames a file by copying and removing it. Its copies lack the last
// byte if short is true.
type copying struct {
	keeping
	short bool
}

func (c copying) Rename(ctx context.Context, from, to string) error {
	b, err := os.ReadFile(folderOf(from))
	if err != nil {
		return err
	}
	if c.short {
		b = b[:len(b)-1]
	}
	return errors.Join(os.WriteFile(folderOf(to), b, 0o600), c.Remove(ctx, from))
}

// TestStoreThatCopiesFiles checks that a file whose copy is whole counts as renamed, although the
// store does not remove the first one, and that a copy in part does not.
func TestStoreThatCopiesFiles(t *testing.T) {
	for name, short := range map[string]bool{"whole": false, "short": true} {
		filesystem.Register(name, func(context.Context) filesystem.Interface {
			return copying{short: short}
		})
		err := beam.WriteFile(t.Context(), name+"://"+t.TempDir()+"/sums", func(w io.Writer) error {
			_, err := io.WriteString(w, "all sums")
			return err
		})
		if (err != nil) != short {
			t.Errorf("a %s copy: got error %v", name, err)
		}
	}
}

// failing is a store whose copies are never whole, and which may remove files.
type failing struct{ copying }

func (failing) Remove(_ context.Context, name string) error { return os.Remove(folderOf(name)) }

func (f failing) Rename(ctx context.Context, from, to string) error {
	return errors.Join(f.copying.Rename(ctx, from, to), errors.New("the store broke"))
}

// TestFilesOfADrawAreNew: a draw replaces no file, and one that fails leaves none.
func TestFilesOfADrawAreNew(t *testing.T) {
	filesystem.Register("failing", func(context.Context) filesystem.Interface {
		return failing{copying{short: true}}
	})
	s := must(records.NewSchema(records.Categorical("town", "a", "b")))
	plan := must(tables.MST{Common: tables.Common{Schema: s, Budget: budget}}.Plan())
	g := must(plan.Fit(t.Context(), must(records.FromValues(s, []any{"a"}))))
	folder := t.TempDir()
	d := beam.Drawing{Rows: 3, Folder: "failing://" + folder}
	_, err := beam.Sample(t.Context(), g, d)
	if left := must(filepath.Glob(folder + "/*.parquet")); err == nil || len(left) > 0 {
		t.Errorf("a failed draw: got error %v, and the files %v", err, left)
	}
	d.Folder = folder
	file := folder + "/part-00000-of-00001.parquet"
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = beam.Sample(t.Context(), g, d)
	if b := must(os.ReadFile(file)); !errors.Is(err, fs.ErrExist) || string(b) != "mine" {
		t.Errorf("a file that exists: got error %v, and it holds %q", err, b)
	}
}

// TestStoreThatKeepsFiles checks that sums which were read are not lost because their file cannot
// be removed: the plan is paid for at that time.
func TestStoreThatKeepsFiles(t *testing.T) {
	filesystem.Register(scheme, func(context.Context) filesystem.Interface { return keeping{} })
	j := job(t, "sets", 3)
	j.Folder = scheme + "://" + j.Folder
	g, err := beam.Fit(t.Context(), j, passPlans(t)["independent"], ledger.New(budget))
	if err != nil || g == nil {
		t.Error(err)
	}
	if removals.Load() == 0 {
		t.Error("nothing was to be removed, so the test proves nothing")
	}
}
