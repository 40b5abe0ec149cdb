package synthtest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/synth"
)

// testFiles checks that damaged and hostile files result in errors, even if their checksum is
// right.
func (s Subject) testFiles(t *testing.T) {
	p, data := s.quickest(t, budgetOf(accountant.AddOrRemoveOne), 0)
	path := filepath.Join(tempDir(t), "run")
	gen := fit(t, p, ledger.New(p.Budget()), data, synth.CheckpointEvery(path, 3))
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/50 {
		if _, err := (synth.Systems{s.System}).Load(bytes.NewReader(whole[:cut]), s.Load...); err == nil {
			t.Errorf("a file cut after %d of %d bytes is read", cut, len(whole))
		}
	}
	for i, bad := range resigned(t, whole, 150) {
		gen, err := synth.Systems{s.System}.Load(bytes.NewReader(bad), s.Load...)
		if err != nil {
			if !errors.Is(err, synth.ErrFormat) {
				t.Errorf("mutant %d: got error %v, want ErrFormat: see synth.Malformed", i, err)
			}
			continue
		}
		if drawn, err := gen.Sample(context.Background(), 5, synth.Seed(1)); err == nil &&
			drawn.Len() != 5 {
			t.Errorf("mutant %d draws %d records, want 5", i, drawn.Len())
		}
	}
	if _, err := (synth.Systems{}).Load(bytes.NewReader(whole)); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("Load without systems: got error %v, want ErrFormat", err)
	}
	s.hostileCheckpoints(t, p, path)
	s.otherVersions(t, p)
}

// otherVersions checks that a plan of another version, older or newer, is refused.
func (s Subject) otherVersions(t *testing.T, p synth.Plan) {
	doc := parse(t, text(t, p)).(map[string]any)
	for _, version := range []any{doc["version"], 0, 1, 3, -1} {
		doc["version"] = version
		_, err := synth.Systems{s.System}.ReadPlan(text(t, doc))
		if _, read := version.(float64); read != (err == nil) {
			t.Errorf("a plan of version %v: got error %v, want errors for other versions only", version, err)
		}
	}
}

// hostileCheckpoints checks that a run continues from a changed checkpoint or returns an error,
// and never draws more than was reserved.
func (s Subject) hostileCheckpoints(t *testing.T, p synth.Plan, path string) {
	whole := must(os.ReadFile(path))(t)
	data := sample(t, p.Schema(), rows, 1)
	for _, bad := range resigned(t, whole, 75) {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		l := ledger.New(p.Budget())
		if gen, err := p.FitOn(context.Background(), l, data,
			synth.CheckpointEvery(path, 50)); err == nil {
			if _, err := gen.Sample(context.Background(), 2); err != nil && gen.Schema().Validate() != nil {
				t.Error(err)
			}
		}
		eachEntry(l, func(e ledger.Entry) {
			if e.Spent > e.Reserved {
				t.Errorf("%s: %d drawn of %d reserved", e.Purpose, e.Spent, e.Reserved)
			}
		})
	}
}

// resigned returns changed copies of a file. Each copy has one change and the right checksum.
func resigned(t *testing.T, whole []byte, n int) [][]byte {
	t.Helper()
	var out [][]byte
	add := func(f *synth.File) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return // the header is no longer JSON
		}
		out = append(out, b.Bytes())
	}
	decoded := func() *synth.File {
		f := must(synth.DecodeFile(bytes.NewReader(whole)))(t)
		return f
	}
	for _, head := range mutants(t, decoded().Header, n*2/3) {
		f := decoded()
		f.Header = head
		add(f)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n / 3 {
		f := decoded()
		if len(f.Sections) == 0 {
			break
		}
		s := &f.Sections[rng.IntN(len(f.Sections))]
		switch k := rng.IntN(4); {
		case k == 0 && len(s.Data) > 0:
			s.Data = s.Data[:rng.IntN(len(s.Data))]
		case k == 1:
			s.Data = append(s.Data[:len(s.Data):len(s.Data)], make([]byte, 1+rng.IntN(16))...)
		case k == 2:
			s.Name = "other"
		case len(s.Data) > 0:
			s.Data = bytes.Clone(s.Data)
			for range 1 + rng.IntN(8) {
				s.Data[rng.IntN(len(s.Data))] = byte(rng.Uint32())
			}
		}
		add(f)
	}
	return out
}
