package mix_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// short returns the model without the rows for which keep returns false, as if interruptions had
// lost them.
func short(t testing.TB, m *mix.Model, keep func(row, class int) bool) *mix.Model {
	t.Helper()
	f := encoded(t, m)
	var features, labels []float32
	var parts []byte
	n := 0
	for i := range m.Rows().Len() {
		class := i % max(m.Rows().Classes(), 1)
		if !keep(i, class) {
			continue
		}
		n++
		features = append(features, m.Rows().Features(i)...)
		labels = append(labels, m.Rows().Labels(i)...)
		parts = binary.LittleEndian.AppendUint32(parts, uint32(class))
	}
	f.Header = []byte(strings.Replace(string(f.Header), `"rows":`+strconv.Itoa(m.Rows().Len()),
		`"rows":`+strconv.Itoa(n), 1))
	for i := range f.Sections {
		switch s := &f.Sections[i]; {
		case s.Name == "features":
			s.Data = synth.Floats(features)
		case s.Name == "labels":
			s.Data = synth.Floats(labels)
		case s.Name == "parts" && len(s.Data) > 0:
			s.Data = parts
		}
	}
	out := decoded(t, f)
	if out.Rows().Len() != n {
		t.Fatalf("got %d rows, want %d", out.Rows().Len(), n)
	}
	return out
}

// TestLostMixturesAreLeftOut checks the estimates after 29 % of the mixtures have been lost, more
// in one class than in the others. Among 90 class means with other seeds the largest error was
// 0.050, and the standard deviation was 0.012. The tolerance of 0.15 is more than eight standard
// deviations above that. If rows were assigned to the wrong class, the errors would be 0.3 to 1.8.
func TestLostMixturesAreLeftOut(t *testing.T) {
	for _, byClass := range []bool{true, false} {
		m := short(t, mixed(t, byClass), func(row, class int) bool {
			return row%7 != 0 && (class > 0 || row%2 == 0)
		})
		moments := must(m.Moments())(t)
		checkMoments(t, moments)
	}
}

// TestLostClass checks that a release can still be used if all mixtures of a class are lost, or all
// mixtures but one.
func TestLostClass(t *testing.T) {
	for name, keep := range map[string]func(row, class int) bool{
		"class": func(_, class int) bool {
			return class != 1
		}, "all but one": func(row, _ int) bool { return row == 4 }} {
		for _, labelled := range []bool{true, false} {
			for kind, data := range kinds(t, 30, labelled) {
				for variant, c := range variants(data.Schema(), accountant.AddOrRemoveOne, 30) {
					whole := fit(t, mustPlan(t, c), data)
					m := short(t, whole.Model().(*mix.Model), keep)
					gen := synth.NewGenerator("mix", m, whole.Guarantee())
					t.Run(name+"/"+kind+"/"+variant, func(t *testing.T) {
						sampled(t, reread(t, gen), 30, synth.Seed(1))
						m.Whiten()
						if !labelled || c.Projection != (mix.Projection{}) {
							return
						}
						moments := must(m.Moments())(t)
						drawn, err := moments.Sample(t.Context(), 20, 1)
						if err == nil {
							err = records.Check(drawn)
						}
						if err != nil {
							t.Fatal(err)
						}
					})
				}
			}
		}
	}
}

// TestFilesOfLostMixtures checks that files with invalid numbers or a wrong number of rows are
// refused.
func TestFilesOfLostMixtures(t *testing.T) {
	m := mixed(t, true)
	f := encoded(t, m)
	for _, s := range []string{"features", "labels", "parts"} {
		bad := encoded(t, m)
		for i := range bad.Sections {
			if bad.Sections[i].Name == s {
				bad.Sections[i].Data = append(bad.Sections[i].Data[4:], 0xff, 0xff, 0xff, 0xff)
			}
		}
		if _, err := mix.System().Model(bad, synth.Loading{}); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s with invalid values: got %v, want ErrFormat", s, err)
		}
	}
	for _, rows := range []string{"0", "-1", "3001", "2999"} {
		bad := *f
		bad.Header = []byte(strings.Replace(string(f.Header), `"rows":3000`, `"rows":`+rows, 1))
		if _, err := mix.System().Model(&bad, synth.Loading{}); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s rows: got %v, want ErrFormat", rows, err)
		}
	}
}

// TestInterruptedRunKeepsItsRows checks that a resumed run keeps the rows drawn before the
// interruption and adds new ones. Every class has all of its planned rows, because an interruption
// between rounds loses none.
func TestInterruptedRunKeepsItsRows(t *testing.T) {
	data := striped(t, 40, 1)
	c := mix.Config{Schema: data.Schema(), Budget: accountant.Budget{Epsilon: 8, Delta: 1e-5},
		ByClass:  true,
		Sampling: mix.Poisson{Nominal: 40, Degree: 4}, Mixtures: 900, ClipNorm: 3,
		Centers: mix.Centers{Share: 0.3, ClipNorm: 1}}
	p, l := mustPlan(t, c), ledger.New(c.Budget)
	path := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	_, err := p.FitOn(ctx, l, data, synth.CheckpointEvery(path, 1),
		synth.OnProgress(func(synth.Progress) {
			if seen++; seen == 4 { // the centres and three rounds
				cancel()
			}
		}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var stages []string
	gen := must(p.FitOn(t.Context(), l, data, synth.CheckpointEvery(path, 1),
		synth.OnProgress(func(s synth.Progress) { stages = append(stages, strconv.Itoa(s.Step)) })))(t)
	m := gen.Model().(*mix.Model)
	count, bits := map[int]int{}, map[uint32]int{}
	for i := range m.Rows().Len() {
		for class, v := range m.Rows().Labels(i) {
			if v != 0 {
				count[class]++
			}
		}
		bits[math.Float32bits(m.Rows().Features(i)[0])]++
	}
	if m.Rows().Len() != 900 || count[0] != 300 || count[1] != 300 || count[2] != 300 ||
		len(bits) < 850 {
		t.Errorf("%d rows, want 900; by class %v, want 300 each; %d different", m.Rows().Len(), count,
			len(bits))
	}
	if len(stages) < 2 || stages[1] == "144" {
		t.Errorf("the second run started from the beginning: its steps are %v", stages)
	}
}

// TestMoreMixturesThanThePlanHas checks that a checkpoint is refused if its rows and the mixtures
// left to draw are together more than the plan has.
func TestMoreMixturesThanThePlanHas(t *testing.T) {
	data := striped(t, 60, 2)
	p := must(together(data.Schema(), accountant.Budget{Epsilon: 3, Delta: 1e-5}, 60))(t)
	path := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	stop := synth.OnProgress(func(at synth.Progress) {
		if 3*at.Step > at.Of {
			cancel()
		}
	})
	if _, err := p.Fit(ctx, data, synth.CheckpointEvery(path, 1), stop); err == nil {
		t.Fatal("the run was not interrupted")
	}
	text := must(os.ReadFile(path))(t)
	held := regexp.MustCompile(`"rows":([0-9]+)`)
	for _, forged := range []bool{false, true} {
		f := must(synth.DecodeFile(bytes.NewReader(text)))(t)
		rows, err := strconv.Atoi(string(held.FindSubmatch(f.Header)[1]))
		if err != nil || rows < 40 || rows > 180 {
			t.Fatalf("the checkpoint has %d rows, want 40 to 180: %v", rows, err)
		}
		// The forged file has exactly the plan's number of rows, so only the number left to draw reveals
		// it.
		if forged {
			f.Header = held.ReplaceAll(f.Header, []byte(`"rows":200`))
			for i, s := range f.Sections {
				row := len(s.Data) / rows
				f.Sections[i].Data = bytes.Repeat(s.Data, 6)[:200*row]
			}
		}
		var file bytes.Buffer
		if err := f.Write(&file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Fit(t.Context(), data, synth.Checkpoint(path)); forged !=
			errors.Is(err, synth.ErrFormat) {
			t.Errorf("forged %v: got %v, want ErrFormat only for a forged file", forged, err)
		}
	}
}
