package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// holder is a system whose configuration has another plan. Its run draws nothing and saves its
// checkpoint.
type holder struct{ config string }

func (holder) Title() string                      { return "holder" }
func (holder) Notes() []string                    { return nil }
func (h holder) Config() (json.RawMessage, error) { return json.RawMessage(h.config), nil }
func (holder) Fit(_ context.Context, r *Run) (Model, error) {
	r.Keep(func() (*File, error) { return &File{Header: json.RawMessage("{}")}, nil })
	return nil, errors.Join(r.Save(), errStopped)
}

var errStopped = errors.New("stopped")

func holderOf(t *testing.T, config string) *Program {
	t.Helper()
	p, err := NewProgram("holder", records.Binary(2), accountant.Budget{Epsilon: 5, Delta: 1e-5},
		[]Stage{{Purpose: "use", Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 1}},
		holder{config})
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

const nested = `{"of":[{"plan":{"version":2,"system":"inner","schema":{},"budget":{"epsilon":3},` +
	`"config":{"noise":12345678901234567890},"stages":[{"epsilon":1}],"epsilon":{"upper":2.5}}}]}`

// TestPricesIdentifyNoPlan checks that a checkpoint fits the same plan if the prices of a plan
// within it are computed more tightly, and that it fits no plan with another configuration.
func TestPricesIdentifyNoPlan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	data, err := records.FromFlat(records.Binary(2), []float32{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(p *Program) error {
		_, err := p.Fit(t.Context(), data, Checkpoint(path))
		return err
	}
	if err := fit(holderOf(t, nested)); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old, new string
		want     error
	}{
		{`"upper":2.5`, `"upper":2.4999999999999996`, errStopped},
		{`"stages":[{"epsilon":1}]`, `"stages":[{"epsilon":0.9}]`, errStopped},
		{`12345678901234567890`, `12345678901234567891`, ErrPlan},
		{`"budget":{"epsilon":3}`, `"budget":{"epsilon":2}`, ErrPlan},
		{`"system":"inner",`, ``, ErrPlan},
	} {
		if err := fit(holderOf(t, strings.Replace(nested, c.old, c.new, 1))); !errors.Is(err, c.want) {
			t.Errorf("%s in place of %s: got error %v, want %v", c.new, c.old, err, c.want)
		}
	}
	// A plan that looks like no plan keeps all its numbers.
	own := `{"stages":[1],"epsilon":2}`
	if text, err := unpriced(json.RawMessage(own)); err != nil || string(text) != own {
		t.Errorf("a configuration without plans becomes %s, error %v", text, err)
	}
}

// TestFormerCheckpointsAreRead checks that a checkpoint with the former digest, of which prices are
// a part, is still read.
func TestFormerCheckpointsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	data, err := records.FromFlat(records.Binary(2), []float32{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	p := holderOf(t, nested)
	if _, err := p.Fit(t.Context(), data, Checkpoint(path)); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	now, err1 := p.hash(false)
	before, err2 := p.hash(true)
	if err := errors.Join(err1, err2); err != nil || now == before {
		t.Fatalf("both digests are %s, error %v", now, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := DecodeFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for digest, want := range map[string]error{before: errStopped, strings.Repeat("0", 64): ErrPlan} {
		f.Header = bytes.Replace(f.Header, []byte(now), []byte(digest), 1)
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := p.Fit(t.Context(), data, Checkpoint(path))
		if !errors.Is(err, want) {
			t.Errorf("digest %s: got error %v, want %v", digest, err, want)
		}
		now = digest
	}
}
