package synth_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// notWritten is a system whose configuration cannot be written.
type notWritten struct{ reading }

func (notWritten) Config() (json.RawMessage, error) { return nil, errors.New("user-defined") }

// TestPlansThatCannotBeSaved checks that a plan is refused if the levels of its columns exceed the
// limits for files, whether or not the plan can be written.
func TestPlansThatCannotBeSaved(t *testing.T) {
	for n, fits := range map[int]bool{90_000: true, 96_000: false} {
		levels := make([]string, n/2)
		for i := range levels {
			levels[i] = strconv.Itoa(i)
		}
		s, err := records.NewSchema(records.Categorical("c", levels...),
			records.Categorical("d", levels...))
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range map[string]synth.Work{"written": reading{}, "unwritten": notWritten{}} {
			_, err = synth.NewProgram("reading", s, accountant.Budget{Epsilon: 9, Delta: 1e-5},
				[]synth.Stage{{Purpose: "use", Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 1}}, w)
			wrong := new(param.Error)
			if fits && err != nil || !fits && !errors.As(err, &wrong) {
				t.Errorf("%s, %d levels: got error %v", name, n, err)
			}
		}
	}
}
