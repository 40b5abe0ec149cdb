package synth

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestStreamsEnd: a stream that the caller leaves, or whose context ends, generates no more.
func TestStreamsEnd(t *testing.T) {
	asked := 0
	m := tallied{repeating{records.Binary(2)}, &asked}
	gen := NewGenerator("deed", m, ledger.Guarantee{})
	n := 3 * SampleChunk
	for part, err := range gen.Stream(t.Context(), n) {
		if err != nil || part.Len() != SampleChunk {
			t.Error(err)
		}
		break
	}
	if asked != SampleChunk {
		t.Errorf("%d records are generated for one part of %d", asked, SampleChunk)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	parts, failures := 0, 0
	for _, err := range gen.Stream(ctx, n) {
		if cancel(); errors.Is(err, context.Canceled) {
			failures++
		} else {
			parts++
		}
	}
	if parts != 1 || failures != 1 {
		t.Errorf("%d parts and %d errors of a context that ended during the first", parts, failures)
	}
	asked = 0
	if some, err := gen.Sample(t.Context(), SampleChunk+1); err != nil || some.Len() != asked ||
		asked != SampleChunk+1 {
		t.Errorf("%d records are generated for a part and one more: %v", asked, err)
	}
}

// tallied counts the records that a model generates.
type tallied struct {
	repeating
	n *int
}

func (m tallied) Sampler(d Draw) (Sampler, error) {
	s, err := m.repeating.Sampler(d)
	next := s.Next
	s.Next = func(n int) (records.Data, error) {
		*m.n += n
		return next(n)
	}
	return s, err
}

// towns draws rows of a table without values and counts them.
type towns struct {
	repeating
	n *int
}

func (m towns) Sampler(Draw) (Sampler, error) {
	return Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		*m.n += n
		return records.FromValues(m.schema, slices.Repeat([][]any{{nil, "a"}}, n)...)
	}}, nil
}

// TestMissingIdentifiersAreFoundFirst: a draw whose last rows would have no identifier generates
// none.
func TestMissingIdentifiersAreFoundFirst(t *testing.T) {
	s, err := records.NewSchema(records.Identifier("id", records.Pattern("###")),
		records.Categorical("town", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	gen := NewGenerator("deed", towns{repeating{s}, &asked}, ledger.Guarantee{})
	var short *param.Error
	for _, err := range gen.Stream(t.Context(), 1001) {
		if !errors.As(err, &short) || asked > 0 {
			t.Errorf("1001 rows with 1000 identifiers: %d are generated, and %v", asked, err)
		}
	}
	if _, err := gen.Sample(t.Context(), 1001); !errors.As(err, &short) || asked > 0 {
		t.Errorf("1001 rows with 1000 identifiers: %d are generated, and %v", asked, err)
	}
	for range gen.Stream(t.Context(), 1000) {
	}
	if asked != 1000 {
		t.Errorf("1000 rows with 1000 identifiers: %d are generated", asked)
	}
}

// TestHeadersOfFilesAreLimited: a longer header than allowed is refused by its length alone.
func TestHeadersOfFilesAreLimited(t *testing.T) {
	for length, want := range map[uint64]error{maxHeader: ErrTruncated, maxHeader + 1: ErrFormat,
		1 << 40: ErrFormat, 1 << 63: ErrFormat, 1<<64 - 1: ErrFormat} {
		start := binary.LittleEndian.AppendUint64([]byte(magic), length)
		if _, err := DecodeFile(bytes.NewReader(start)); !errors.Is(err, want) {
			t.Errorf("a header of %d bytes: %v, want %v", length, err, want)
		}
	}
	if _, err := (Systems{}).LoadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestFreeRunsKeepNothing: a run without private releases takes neither a checkpoint nor previews.
func TestFreeRunsKeepNothing(t *testing.T) {
	for want, opt := range map[string]Option{"": OnProgress(func(Progress) {}),
		"privgen.Checkpoint": Checkpoint(filepath.Join(t.TempDir(), "run")),
		"privgen.OnPreview":  OnPreview(1, func(int, *Generator) {})} {
		var wrong *param.Error
		if _, err := FreeRun(ledger.Guarantee{}, opt); errors.As(err, &wrong) != (want != "") ||
			want != "" && wrong.Path != want {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestFilesOfMissingSystems: a plan or a generator of a system that is not in the list is refused,
// and so is a plan without one of its noise multipliers.
func TestFilesOfMissingSystems(t *testing.T) {
	text, err := deedOf(t, records.Binary(2), deed{}, Stage{Purpose: "use", Event: normal,
		Count: 1}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := (&File{Kind: "deed", Header: []byte("{}")}).Write(&file); err != nil {
		t.Fatal(err)
	}
	_, noPlan := (Systems{}).ReadPlan(text)
	_, noGenerator := (Systems{}).Load(&file)
	for _, err := range []error{noPlan, noGenerator} {
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "unknown system \"deed\"") {
			t.Error(err)
		}
	}
	if err := (SavedPlan{}).Decided(2, 0); !errors.Is(err, ErrFormat) ||
		(SavedPlan{}).Decided(2, 1) != nil {
		t.Errorf("no noise multiplier: %v", err)
	}
}

// TestPartsUnderReplaceOne: a stage of several parts needs a price that covers records which move
// between the parts, under replace-one only.
func TestPartsUnderReplaceOne(t *testing.T) {
	for _, c := range []struct {
		relation accountant.Relation
		parts    int
		covered  bool
		good     bool
	}{
		{accountant.AddOrRemoveOne, 3, false, true}, {accountant.AddOrRemoveOne, 3, true, true},
		{accountant.ReplaceOne, 3, false, false}, {accountant.ReplaceOne, 3, true, true},
		{accountant.ReplaceOne, 1, false, true}, {accountant.ReplaceOne, 0, false, true},
		{accountant.ReplaceOne, 2, false, false},
	} {
		b := deedBudget
		b.Relation = c.relation
		_, err := NewProgram("deed", records.Binary(2), b, []Stage{{Purpose: "x", Event: normal,
			Count: 1, Parts: c.parts, MovesCovered: c.covered}}, deed{})
		var p *param.Error
		if (err == nil) != c.good || err != nil && (!errors.As(err, &p) ||
			p.Path != "synth.NewProgram.stages[0].MovesCovered") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestTicksWriteWhenDue: a tick writes the checkpoint if the last write is long ago, and a save
// writes it always.
func TestTicksWriteWhenDue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		writes := func(do func() error) bool {
			before := r.keeper.nonce
			if err := do(); err != nil {
				t.Error(err)
			}
			return r.keeper.nonce != before
		}
		r.keeper.pace.last = time.Now()
		if writes(r.Tick) {
			t.Error("a tick writes just after a write")
		}
		r.keeper.pace.last = time.Now().Add(-time.Hour)
		if !writes(r.Tick) || writes(r.Tick) || !writes(r.Save) || !writes(r.Save) {
			t.Error("a tick after an hour writes nothing, or writes twice, or a save writes nothing")
		}
		return nil, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	if _, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 3),
		Checkpoint(path)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join((&Run{}).Tick(), (&Run{}).Save()); err != nil {
		t.Error(err)
	}
}

// TestPartsJudge: what a part predicts ends the run before anything is reserved.
func TestPartsJudge(t *testing.T) {
	soon := errors.New("too few records")
	for what, c := range map[string]struct {
		judge func(*Run) error
		want  error
	}{
		"refuses": {func(r *Run) error { return soon }, soon},
		"accepts": {func(r *Run) error { return nil }, nil},
	} {
		fits := 0
		part := Inner{Prefix: "x: ", Plan: deedOf(t, records.Binary(2), deed{judge: c.judge,
			run: func(context.Context, *Run) (Model, error) { fits++; return nil, nil }},
			Stage{Purpose: "use", Event: normal, Count: 1})}
		whole := deedOf(t, records.Binary(2), deed{
			judge: func(r *Run) error { return r.JudgeInner(part) },
			run:   func(ctx context.Context, r *Run) (Model, error) { return r.FitInner(ctx, part) },
		}, part.Stages()...)
		l := ledger.New(deedBudget)
		_, err := whole.FitOn(t.Context(), l, bits(t, 3))
		if !errors.Is(err, c.want) || (len(l.Entries()) > 0) != (c.want == nil) ||
			(fits == 1) != (c.want == nil) {
			t.Errorf("%s: %v, %d fits, %+v", what, err, fits, l.Entries())
		}
	}
	var p *param.Error
	if err := (&Run{}).JudgeInner(Inner{}); !errors.As(err, &p) {
		t.Errorf("no plan: %v", err)
	}
}
