package beam_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/ledger"
)

// keeping is an object store that cannot rename files and forbids to remove them, as one with a
// retention policy does.
type keeping struct{ filesystem.Interface }

var removals atomic.Int64

const scheme = "keeping"

func folderOf(name string) string { return strings.TrimPrefix(name, scheme+"://") }

func (keeping) Close() error { return nil }

func (keeping) OpenRead(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(folderOf(name))
}

func (keeping) OpenWrite(_ context.Context, name string) (io.WriteCloser, error) {
	return os.Create(folderOf(name))
}

func (keeping) Remove(context.Context, string) error {
	removals.Add(1)
	return errors.New("no permission to remove objects")
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
