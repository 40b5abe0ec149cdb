package sgd_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// failed is data that failed before training.
type failed struct{ records.Data }

func (failed) Failed() bool { return true }

// TestTrainingThatIsRefused: nothing is reserved for data that the trainer cannot take, and no more
// than the reserved steps are taken.
func TestTrainingThatIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		data records.Data
		want error // nil: a *param.Error
	}{
		"no data":                {nil, nil},
		"failed data":            {failed{table(t, 9, 3, 1)}, records.ErrData},
		"records of another":     {table(t, 9, 4, 1), nil},
		"users for one record":   {records.WithUnit(table(t, 9, 3, 1), records.UnitUser), nil},
		"persons for one record": {personsOf(t, 3, 2), nil},
	} {
		trainer, l := newTrainer(t, with(nil, 0.5, 4), newCentre(3), 1e4)
		for _, err := range trainer.Steps(t.Context(), c.data) {
			wrong := (*param.Error)(nil)
			if c.want != nil && !errors.Is(err, c.want) || c.want == nil && !errors.As(err, &wrong) {
				t.Errorf("%s: got %v, want %v", what, err, c.want)
			}
		}
		if len(l.Entries()) > 0 || trainer.Spent() != 0 {
			t.Errorf("%s: the ledger reserves %v", what, l.Entries())
		}
	}
	trainer, l := newTrainer(t, with(nil, 0.5, 2), newCentre(3), 1e4)
	var last error
	for range 3 {
		for _, err := range trainer.Steps(t.Context(), table(t, 9, 3, 1)) {
			last = err
		}
	}
	if !errors.Is(last, ledger.ErrReservationExhausted) || l.Entries()[0].Spent != 2 ||
		l.Entries()[0].Reserved != 2 {
		t.Errorf("after two steps of two: %v, %+v", last, l.Entries())
	}
}

// TestTrainersPrintAsPrivate: a trainer holds records of its last step.
func TestTrainersPrintAsPrivate(t *testing.T) {
	trainer, _ := newTrainer(t, with(nil, 0.5, 2), newCentre(3), 1e4)
	var text strings.Builder
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "trainer", trainer)
	marshalled, err := json.Marshal(trainer)
	if s := fmt.Sprintf("%v %+v %#v %s %d", trainer, trainer, trainer, trainer, trainer); err != nil ||
		strings.ReplaceAll(s, "[private]", "") != "    " || string(marshalled) != `"[private]"` ||
		!strings.Contains(text.String(), "trainer=[private]") {
		t.Errorf("a trainer prints as %s, %s, %s (%v)", s, marshalled, text.String(), err)
	}
}

// TestForgedStates: a state with numbers that are not finite, or with an impossible number of
// steps, is refused and changes nothing.
func TestForgedStates(t *testing.T) {
	cfg := with(nil, 0.5, 2)
	cfg.Optimizer = sgd.Adam(0.1)
	trainer, _ := newTrainer(t, cfg, newCentre(3), 1e4, sgd.WithAverage(0.9))
	for _, err := range trainer.Steps(t.Context(), table(t, 9, 3, 1)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	good := trainer.AppendState(nil)
	same, _ := newTrainer(t, cfg, newCentre(3), 1e4, sgd.WithAverage(0.9))
	if err := same.SetState(good); err != nil || string(same.AppendState(nil)) != string(good) {
		t.Fatal(err)
	}
	put := func(at int, bits uint32) []byte {
		b := append([]byte(nil), good...)
		binary.LittleEndian.PutUint32(b[at:], bits)
		return b
	}
	nan, inf := math.Float32bits(float32(math.NaN())), math.Float32bits(float32(math.Inf(1)))
	for what, state := range map[string][]byte{
		"a moment that is no number": put(8, nan), "an infinite moment": put(12, inf),
		"an average that is no number": put(len(good)-4, nan), "an infinite average": put(len(good)-8,
			inf),
		"a negative step": put(4, 1<<31), "a huge step": put(4, 1), "no state": nil,
		"too short": good[1:],
		"too long":  append(append([]byte(nil), good...), 0),
	} {
		if err := same.SetState(state); err == nil {
			t.Errorf("%s is accepted", what)
		}
		if string(same.AppendState(nil)) != string(good) {
			t.Errorf("%s changes the trainer", what)
		}
	}
}
