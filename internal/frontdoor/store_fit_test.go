package frontdoor_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// patients returns a store with one ledger, for the table of earners.
func patients(t *testing.T) (folder string, s *ledger.Store, terms ledger.Terms) {
	t.Helper()
	folder = t.TempDir()
	s = ledger.Dir(folder)
	terms = ledger.Terms{Budget: accountant.Budget{Epsilon: 5, Delta: 1e-5}}
	l := must(s.Create(t.Context(), "patients-2026", terms))(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return folder, s, terms
}

func openPatients(t *testing.T, s *ledger.Store) *ledger.Ledger {
	t.Helper()
	l := must(s.Open(t.Context(), "patients-2026"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func clustered(t *testing.T, s records.Schema) privgen.Plan {
	t.Helper()
	plan, err := privgen.DPGM(s, accountant.Budget{Epsilon: 2, Delta: 1e-5}).
		Features(rff.RBF{Dim: 20, Bandwidth: 1}).
		Cluster(kmeans.Config{K: 3, Iterations: 2, Share: 0.2}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.2, Steps: 12, Optimizer: sgd.Adam(1e-2)}).
		Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestFitOnAStore interrupts a run on a ledger in a store and resumes it on the ledger opened anew,
// as another process would. It checks that the ledger then names the resulting generator.
func TestFitOnAStore(t *testing.T) {
	schema, data := earners(t)
	folder, s, _ := patients(t)
	plan, path := clustered(t, schema), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	first := openPatients(t, s)
	_, err := plan.FitOn(ctx, first, data, privgen.CheckpointEvery(path, 1),
		privgen.OnProgress(func(p privgen.Progress) {
			if p.Step == 6 {
				cancel()
			}
		}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	cost := first.Epsilon()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openPatients(t, s)
	gen := must(plan.FitOn(t.Context(), second, data, privgen.CheckpointEvery(path, 1)))(t)
	if got := second.Epsilon(); got != cost {
		t.Errorf("after the restart ε = %v, before %v", got, cost)
	}
	if kept := gen.Guarantee().Kept; kept == nil || kept.Ledger != "patients-2026" ||
		!strings.Contains(gen.Guarantee().String(), "patients-2026") {
		t.Errorf("the guarantee does not name its ledger:\n%v", gen.Guarantee())
	}
	for _, e := range gen.Guarantee().Entries {
		if e.Lines == nil || e.Spent > e.Reserved {
			t.Errorf("%s: %d of %d in %v", e.Purpose, e.Spent, e.Reserved, e.Lines)
		}
	}
	file := filepath.Join(t.TempDir(), "generator")
	if err := gen.SaveFile(file); err != nil {
		t.Fatal(err)
	}
	text := must(os.ReadFile(file))(t)
	if bytes.Contains(text, []byte(filepath.Dir(folder))) {
		t.Errorf("the file of the generator holds the path of the store, %s", folder)
	}
	if kept := gen.Guarantee().Kept.Store; !strings.Contains(kept, filepath.Base(folder)) {
		t.Errorf("the guarantee does not name the store: %s", kept)
	}
	sum := sha256.Sum256(text)
	releases := openPatients(t, s).Releases()
	if len(releases) != 1 || releases[0].Artefact != hex.EncodeToString(sum[:]) ||
		releases[0].Plan == "" || releases[0].Transaction == "" {
		t.Errorf("releases %+v", releases)
	}
	free := must(merfChain(schema).Plan())(t)
	again, err := free.FitOn(t.Context(), second, data) // without a checkpoint
	if err != nil {
		t.Fatal(err)
	}
	releases = openPatients(t, s).Releases()
	if len(releases) != 2 || releases[1].Transaction == "" || again.Guarantee().Epsilon <= cost.Upper {
		t.Errorf("releases %+v, ε = %v", releases, again.Guarantee().Epsilon)
	}
}

// TestCheckpointNamesItsLedger checks that a checkpoint is refused with another ledger, with a
// ledger in memory, and with an older copy of its own ledger.
func TestCheckpointNamesItsLedger(t *testing.T) {
	schema, data := earners(t)
	folder, s, terms := patients(t)
	plan, path := clustered(t, schema), filepath.Join(t.TempDir(), "run")
	backup := t.TempDir()
	if err := os.CopyFS(filepath.Join(backup, "copy"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := plan.FitOn(ctx, openPatients(t, s), data, privgen.Checkpoint(path),
		privgen.OnProgress(func(privgen.Progress) { cancel() }))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	other := must(s.Create(t.Context(), "other", terms))(t)
	older := openPatients(t, ledger.Dir(filepath.Join(backup, "copy")))
	for _, c := range []struct {
		name   string
		ledger *ledger.Ledger
		want   error
	}{
		{"another ledger", other, ledger.ErrOtherLedger},
		{"one in memory", ledger.New(terms.Budget), ledger.ErrOtherLedger},
		{"an older copy", older, ledger.ErrRolledBack},
		{"its own", openPatients(t, s), nil},
	} {
		before := c.ledger.Epsilon()
		_, err := plan.FitOn(t.Context(), c.ledger, data, privgen.Checkpoint(path))
		if !errors.Is(err, c.want) || c.want != nil && c.ledger.Epsilon() != before {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestTrainOnAStore takes the steps of a user-defined loop from a ledger in a store.
func TestTrainOnAStore(t *testing.T) {
	_, s, terms := patients(t)
	_, data := earners(t)
	net := must(models.VAE{Hidden: []int{4}, Latent: 2}.New(device.CPU(),
		models.Visible{Dim: data.Schema().Dim()}, 1))(t)
	cfg := must(sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 70,
		Optimizer: sgd.Adam(1e-2)}.Calibrate(terms.Budget))(t)
	ledger := openPatients(t, s)
	trainer := must(sgd.New(cfg, net, ledger))(t)
	steps := 0
	for _, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		steps++
	}
	entries := openPatients(t, s).Entries()
	if steps != 70 || len(entries) != 1 || entries[0].Spent != 70 || len(entries[0].Notes) == 0 {
		t.Errorf("%d steps; the ledger holds %+v", steps, entries)
	}
	if _, err := sgd.New(cfg, net, ledger); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(func(yield func(uint64) bool) {
		for line, err := range s.History(t.Context(), "patients-2026") {
			if err != nil || !yield(line.Line) {
				return
			}
		}
	})
	if len(lines) > 60 { // a line holds two uses once many have been taken
		t.Errorf("70 steps make %d lines, want at most 60", len(lines))
	}
}
