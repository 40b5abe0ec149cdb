package synth

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// deed is a system whose run and whose prediction are functions of the test.
type deed struct {
	run   func(context.Context, *Run) (Model, error)
	judge func(*Run) error
}

func (deed) Title() string                    { return "deed" }
func (deed) Notes() []string                  { return nil }
func (deed) TakesPersons()                    {}
func (deed) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (d deed) Fit(ctx context.Context, r *Run) (Model, error) {
	return d.run(ctx, r)
}
func (d deed) Judge(r *Run) error {
	if d.judge == nil {
		return nil
	}
	return d.judge(r)
}

var deedBudget = accountant.Budget{Epsilon: 20, Delta: 1e-5}

func deedOf(t *testing.T, s records.Schema, d deed, stages ...Stage) *Program {
	t.Helper()
	p, err := NewProgram("deed", s, deedBudget, stages, d)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func bits(t *testing.T, n int) records.Data {
	t.Helper()
	data, err := records.FromFlat(records.Binary(2), make([]float32, 2*n))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var normal = accountant.Gaussian{NoiseMultiplier: 5}

// TestRunsThatAreRefused: nothing is reserved or read for a run that cannot keep its promise.
func TestRunsThatAreRefused(t *testing.T) {
	fits := 0
	d := deed{run: func(context.Context, *Run) (Model, error) { fits++; return nil, nil }}
	use := Stage{Purpose: "use", Event: normal, Count: 2}
	rows := deedOf(t, records.Binary(2), d, use)
	persons := deedOf(t, records.Binary(2).ByPerson(3), d, use)
	grouped, err := records.GroupBy(bits(t, 4), []int{1, 1, 2, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	soon := errors.New("too few records")
	judged := deedOf(t, records.Binary(2), deed{run: d.run, judge: func(*Run) error { return soon }},
		use)
	replace := deedBudget
	replace.Relation = accountant.ReplaceOne
	other := bits(t, 1)
	wide, err := records.FromFlat(records.Binary(3), []float32{0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		p    *Program
		l    *ledger.Ledger
		data records.Data
		ctx  context.Context
		want error // nil: a *param.Error
	}{
		"no ledger":                   {rows, nil, other, t.Context(), nil},
		"another relation":            {rows, ledger.New(replace), other, t.Context(), nil},
		"persons on a ledger of rows": {persons, ledger.New(deedBudget), grouped, t.Context(), nil},
		"persons for a plan of rows":  {rows, ledger.New(deedBudget), grouped, t.Context(), nil},
		"rows for a plan of persons": {persons, ledger.New(deedBudget,
			ledger.WithUnit(records.UnitUser)), other, t.Context(), nil},
		"what the system predicts": {judged, ledger.New(deedBudget), other, t.Context(), soon},
		"a context that ended":     {rows, ledger.New(deedBudget), other, stopped, context.Canceled},
		"records of users for one row": {rows, ledger.New(deedBudget), records.WithUnit(other,
			records.UnitUser), t.Context(), nil},
		"records of another schema": {rows, ledger.New(deedBudget), wide, t.Context(), ErrSchema},
		"no data":                   {rows, ledger.New(deedBudget), nil, t.Context(), nil},
		"the zero plan":             {&Program{}, ledger.New(deedBudget), other, t.Context(), nil},
		"a budget that is already used": {rows, ledger.New(accountant.Budget{Epsilon: 0.1, Delta: 1e-5}),
			other, t.Context(), accountant.ErrBudgetExceeded},
	} {
		_, err := c.p.FitOn(c.ctx, c.l, c.data)
		wrong := (*param.Error)(nil)
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want %v", what, err, c.want)
		}
		if c.l != nil && len(c.l.Entries()) > 0 {
			t.Errorf("%s: the ledger reserves %v", what, c.l.Entries())
		}
		if c.data == nil || what == "the zero plan" || what == "a budget that is already used" {
			continue
		}
		if _, again := Pending(c.ctx, c.p, c.l, c.data); again == nil {
			t.Errorf("%s: a reservation is pending", what)
		}
	}
	if fits != 0 {
		t.Errorf("%d runs began", fits)
	}
	users := ledger.New(deedBudget, ledger.WithUnit(records.UnitUser))
	if _, err := persons.FitOn(t.Context(), users, grouped); fits != 1 {
		t.Errorf("persons on a ledger of users: %v", err)
	}
	if g := (&Generator{}).Guarantee(); g.NotPrivate == "" {
		t.Error("a generator that nothing trained has a guarantee")
	}
}

// TestStagesOfParts: a stage of several parts is reserved part by part in one group, with the
// properties that its price assumes, and its releases are divided among the lanes.
func TestStagesOfParts(t *testing.T) {
	each := accountant.Repeated{Event: normal, Count: 5}
	for _, fixed := range []bool{false, true} {
		s := Stage{Purpose: "train", Event: normal, Count: 5, Parts: 3, Lanes: 2, Fixed: fixed,
			MovesCovered: true, NoiseMultiplier: 5}
		want := accountant.Event(accountant.Disjoint{Parts: []accountant.Event{each, each}, Fixed: fixed})
		if !accountant.EqualEvents(s.Whole(), want) || !accountant.EqualEvents(Total(s), want) {
			t.Errorf("the whole stage is %+v, want %+v", s.Whole(), want)
		}
		other := Stage{Purpose: "count", Event: normal, Count: 1}
		both := accountant.Composed{Events: []accountant.Event{want,
			accountant.Repeated{Event: normal, Count: 1}}}
		if !accountant.EqualEvents(Total(s, other), both) {
			t.Errorf("two stages are %+v", Total(s, other))
		}
		p := deedOf(t, records.Binary(2), deed{}, s, other)
		tr := p.transaction(false)
		if len(tr.Groups) != 1 || tr.Groups[0] != (ledger.Parts{Purpose: "train", N: 3, Fixed: fixed,
			MovesCovered: true}) || len(tr.Lines) != 7 {
			t.Fatalf("the transaction is %+v", tr)
		}
		for i, line := range tr.Lines[:6] {
			if line.Group != 1 || line.Part != i/2 || line.Count != 3-i%2 || line.Purpose != "train" {
				t.Errorf("line %d is %+v", i, line)
			}
		}
		if last := tr.Lines[6]; last.Group != 0 || last.Count != 1 || last.Purpose != "count" {
			t.Errorf("the last line is %+v", last)
		}
		if line := s.line(); !strings.Contains(line, "in each of 3 disjoint parts") {
			t.Error(line)
		}
		var j stageJSON
		if text, err := json.Marshal(p.stages[0]); err != nil || json.Unmarshal(text, &j) != nil ||
			j.Parts != 3 || j.Fixed != fixed || !j.MovesCovered || j.Count != 5 || j.NoiseMultiplier != 5 {
			t.Errorf("the stage is written as %s (%v)", text, err)
		}
	}
	twice := Stage{Purpose: "x", Event: accountant.Repeated{Event: normal, Count: 4}, Count: 3}
	if line := twice.line(); !strings.Contains(line, " 12 × Gaussian") {
		t.Error(line)
	}
	for what, s := range map[string][]Stage{
		"a stage": {{Purpose: "a", Event: accountant.Gaussian{NoiseMultiplier: 0.1}, Count: 9}},
		"the plan": {{Purpose: "a", Event: accountant.Gaussian{NoiseMultiplier: 0.3}, Count: 1},
			{Purpose: "b", Event: accountant.Gaussian{NoiseMultiplier: 0.3}, Count: 1}},
	} {
		if _, err := NewProgram("deed", records.Binary(2), deedBudget, s, deed{}); !errors.Is(err,
			accountant.ErrBudgetExceeded) {
			t.Errorf("%s that costs too much: %v", what, err)
		}
	}
	replace := deedBudget
	replace.Relation = accountant.ReplaceOne
	for what, s := range map[string]Stage{"moves that nobody covers": {Purpose: "a", Event: normal,
		Count: 1,
		Parts: 2}, "no purpose": {Event: normal, Count: 1}, "no event": {Purpose: "a", Count: 1},
		"no count":    {Purpose: "a", Event: normal},
		"once, twice": {Purpose: "a", Event: normal, Count: 2, Once: true},
		"once in two parts": {Purpose: "a", Event: normal, Count: 1, Parts: 2, MovesCovered: true,
			Once: true},
		"once in two lanes":    {Purpose: "a", Event: normal, Count: 1, Lanes: 2, Once: true},
		"once without a noise": {Purpose: "a", Event: accountant.Pure{Epsilon: 1}, Count: 1, Once: true},
		"negative parts":       {Purpose: "a", Event: normal, Count: 1, Parts: -1},
		"negative lanes":       {Purpose: "a", Event: normal, Count: 1, Lanes: -1},
	} {
		if _, err := NewProgram("deed", records.Binary(2), replace, []Stage{s}, deed{}); err == nil {
			t.Errorf("a stage with %s is planned", what)
		}
	}
	same := Stage{Purpose: "a", Event: normal, Count: 1}
	subset := Stage{Purpose: "b", Count: 1, Event: accountant.SampledWithoutReplacement{Population: 9,
		Sample: 3, Event: normal}}
	for _, list := range [][]Stage{{subset}, {same, subset}} {
		if _, err := NewProgram("deed", records.Binary(2), deedBudget, list, deed{}); !errors.Is(err,
			accountant.ErrUnsupported) {
			t.Errorf("a stage without a price is planned: %v", err)
		}
	}
	if _, err := NewProgram("deed", records.Binary(2), deedBudget, []Stage{same, same},
		deed{}); err == nil {
		t.Error("two stages have one purpose")
	}
}

// TestOnceNotesItsNoise: the one release of a stage has the planned noise, and the class that its
// sums deserve.
func TestOnceNotesItsNoise(t *testing.T) {
	for _, real := range []bool{false, true} {
		for _, checkpoint := range []string{"", filepath.Join(t.TempDir(), "c")} {
			std := 0.0
			d := deed{run: func(_ context.Context, r *Run) (Model, error) {
				if real {
					r.NoteReal("use")
				}
				if _, err := r.Once("other", []int{1}, nil); err == nil {
					t.Error("a stage that the plan lacks is drawn")
				}
				out, err := r.Once("use", []int{1}, func() (float64, []mechanism.Part, error) {
					return 0.2, []mechanism.Part{{Sum: mechanism.NewFixedSum(1, 0x1p-30), Std: 5}}, nil
				})
				std = r.Wider("use")
				if len(out) != 1 || out[0][0] == 0 || r.Keeps() != (checkpoint != "") {
					t.Errorf("drawn %v", out)
				}
				return nil, errors.Join(err, errStopped)
			}}
			p := deedOf(t, records.Binary(2), d, Stage{Purpose: "use", Event: normal, Count: 1, Once: true})
			var opts []Option
			if checkpoint != "" {
				opts = append(opts, Checkpoint(checkpoint))
			}
			l := ledger.New(deedBudget)
			if _, err := p.FitOn(t.Context(), l, bits(t, 2), opts...); !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			notes := l.Entries()[0].Notes
			if slices.Contains(notes, ledger.RealNoise) != real || !slices.Contains(notes,
				ledger.ExactNoise) ||
				std != 1 {
				t.Errorf("the noise is %v of %v times the planned, inexact: %v", notes, std, real)
			}
		}
	}
	lost := &Run{keeper: &keeper{run: &Run{}, releases: map[string]*release{"a": {made: 2}}}}
	if w := lost.Wider("a"); math.Abs(w-2) > 1e-12 || lost.Wider("b") != 1 {
		t.Errorf("two of eight shares have %v times the noise, want twice", w)
	}
}

// TestCheckpointsBelongToOneStoredLedger: a checkpoint that was kept with a ledger in a store is
// refused on a ledger of another store, which lacks the ledger's lines, before anything is drawn.
func TestCheckpointsBelongToOneStoredLedger(t *testing.T) {
	path, drawn := filepath.Join(t.TempDir(), "c"), 0
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		if _, err := r.Allowance("use").Next(); err != nil {
			return nil, err
		}
		drawn++
		return nil, errStopped
	}}, Stage{Purpose: "use", Event: normal, Count: 4})
	var ledgers []*ledger.Ledger
	for range 2 {
		l, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{Budget: deedBudget})
		if err != nil {
			t.Fatal(err)
		}
		ledgers = append(ledgers, l)
	}
	for _, c := range []struct {
		on    *ledger.Ledger
		want  error
		drawn int
	}{{ledgers[0], errStopped, 1}, {ledgers[1], ledger.ErrOtherLedger, 1},
		{ledgers[0], errStopped, 2}} {
		_, err := p.FitOn(t.Context(), c.on, bits(t, 2), Checkpoint(path))
		if !errors.Is(err, c.want) || drawn != c.drawn {
			t.Errorf("got %v after %d draws, want %v after %d", err, drawn, c.want, c.drawn)
		}
	}
	if n := len(ledgers[1].Entries()); n > 0 {
		t.Errorf("%d entries on the other ledger, want none", n)
	}
}

// TestForgedCheckpoints: a checkpoint that no run of this plan wrote on this ledger is refused for
// its own reason, before anything is drawn.
func TestForgedCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	drawn := 0
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		if _, err := r.Allowance("use").Next(); err != nil {
			return nil, err
		}
		drawn++
		r.Keep(func() (*File, error) { return &File{Header: json.RawMessage("{}")}, nil })
		return nil, errors.Join(r.Save(), errStopped)
	}}, Stage{Purpose: "use", Event: normal, Count: 4})
	l := ledger.New(deedBudget)
	fit := func() error {
		_, err := p.FitOn(t.Context(), l, bits(t, 2), Checkpoint(path))
		return err
	}
	if err := fit(); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why    string
		want   error
		change func(f *File, h *checkpointHeader)
	}{
		{"not a checkpoint", ErrFormat, func(f *File, _ *checkpointHeader) { f.Kind = "deed" }},
		{"parts of the checkpoint", ErrFormat, func(_ *File, h *checkpointHeader) { h.ID = "" }},
		{"parts of the checkpoint", ErrFormat, func(_ *File, h *checkpointHeader) { h.Sections = 9 }},
		{"parts of the checkpoint", ErrFormat, func(_ *File, h *checkpointHeader) { h.Sections = -1 }},
		{"", ErrPlan, func(_ *File, h *checkpointHeader) { h.Plan += "0" }},
		{"unit", ErrPlan, func(_ *File, h *checkpointHeader) { h.Unit = records.UnitUser }},
		{"", ledger.ErrOtherLedger, func(_ *File,
			h *checkpointHeader) {
			h.Ledger = &ledger.Kept{ID: "x"}
		}},
		{"noise classes", ErrFormat, func(_ *File, h *checkpointHeader) { h.Classes = nil }},
		{"unknown noise class", ErrFormat, func(_ *File, h *checkpointHeader) {
			h.Classes[0] = []ledger.NoiseClass{"none"}
		}},
		{"of 2 lines", ErrFormat, func(_ *File, h *checkpointHeader) {
			h.Taken, h.Classes = append(h.Taken, 0), append(h.Classes, nil)
		}},
		{"5 of 4 uses", ErrFormat, func(_ *File, h *checkpointHeader) { h.Taken[0] = 5 }},
		{"-1 of 4 uses", ErrFormat, func(_ *File, h *checkpointHeader) { h.Taken[0] = -1 }},
	} {
		f, err := DecodeFile(strings.NewReader(string(good)))
		if err != nil {
			t.Fatal(err)
		}
		var h checkpointHeader
		if err := f.Decode(&h); err != nil {
			t.Fatal(err)
		}
		c.change(f, &h)
		if f.Header, err = json.Marshal(h); err != nil {
			t.Fatal(err)
		}
		var forged strings.Builder
		if err := errors.Join(f.Write(&forged), os.WriteFile(path, []byte(forged.String()),
			0o600)); err != nil {
			t.Fatal(err)
		}
		before := drawn
		if err := fit(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.why) ||
			drawn != before {
			t.Errorf("%q: got %v, want %v; %d draws", c.why, err, c.want, drawn-before)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		if err := fit(); !errors.Is(err, errStopped) {
			break
		}
	}
	if e := l.Entries()[0]; e.Reserved != 4 || e.Spent > 4 || drawn > 4 {
		t.Errorf("%d draws of %+v", drawn, e)
	}
	sum := &release{}
	if err := errors.Join(sum.add(1, [][]float64{{1, 2}}), sum.add(2, [][]float64{{5,
		7}})); err != nil ||
		sum.made != 3 || sum.mean()[0][1] != 3 || sum.has([]int{3}) || !sum.has([]int{2}) {
		t.Errorf("three shares: %+v, %v", sum, err)
	}
	if err := sum.add(1, [][]float64{{1}}); !errors.Is(err, ErrFormat) {
		t.Errorf("a share of another size: %v", err)
	}
}

// TestStoresRecordGenerators: a run on a ledger in a store has a transaction of its own, and its
// last line names the plan.
func TestStoresRecordGenerators(t *testing.T) {
	l, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{Budget: deedBudget})
	if err != nil {
		t.Fatal(err)
	}
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		return drawnBits{}, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	for range 2 {
		if _, err := p.FitOn(t.Context(), l, bits(t, 2)); err != nil {
			t.Fatal(err)
		}
	}
	list := l.Releases()
	if len(list) != 2 || list[0].Plan == "" || list[0].Plan != list[1].Plan ||
		list[0].Artefact == "" ||
		list[0].Transaction == "" || list[0].Transaction == list[1].Transaction {
		t.Errorf("the ledger records %+v", list)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Reserved != 2 {
		t.Errorf("two runs reserve %+v", e)
	}
}

type drawnBits struct{}

func (drawnBits) Schema() records.Schema        { return records.Binary(2) }
func (drawnBits) Encode() (*File, error)        { return &File{Header: json.RawMessage("{}")}, nil }
func (drawnBits) Sampler(Draw) (Sampler, error) { return Sampler{}, nil }

// claims says that its rows are persons.
type claims struct{ records.Data }

func (claims) Schema() records.Schema { return records.Binary(2).ByPerson(3) }
func (claims) Unit() string           { return records.UnitUser }

// TestPersonsArePersons: a plan for persons needs a ledger that protects them, even if other
// processes read the records, and records that records.GroupBy has made into persons.
func TestPersonsArePersons(t *testing.T) {
	fits := 0
	run := func(*Run) (Model, error) { fits++; return nil, nil }
	p := deedOf(t, records.Binary(2).ByPerson(3), deed{},
		Stage{Purpose: "use", Event: normal, Count: 2})
	for unit, data := range map[string]records.Data{records.UnitRecord: nil,
		records.UnitUser: claims{bits(t, 4)}} {
		l := ledger.New(deedBudget, ledger.WithUnit(unit))
		_, err := Carry(t.Context(), p, l, data, run)
		if wrong := (*param.Error)(nil); !errors.As(err, &wrong) || fits > 0 || len(l.Entries()) > 0 {
			t.Errorf("%T on a ledger that protects a %s: %v, %d runs, the ledger has %v", data, unit, err,
				fits, l.Entries())
		}
	}
}
