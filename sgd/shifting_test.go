package sgd_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// shifting is a network whose sums in fixed point round more often in later steps.
type shifting struct {
	*blocky
	terms *int
}

func (n shifting) Gradients(b device.Batch) models.Gradients {
	n.blocky.Gradients(b)
	return n
}

func (n shifting) FixedForm() models.FixedForm {
	return models.FixedForm{Terms: *n.terms, Reach: 1}
}

func (n shifting) AddFixedSum(device.Fixed, []float32)         {}
func (n shifting) AddFixedBlockSums(device.Fixed, [][]float32) {}

// TestSumsOfAnotherFormAreNotReleased: the clip norm leaves room for the rounding of the form that
// a network had at first. Gradients of another form end the training before the next release.
func TestSumsOfAnotherFormAreNotReleased(t *testing.T) {
	for what, clip := range map[string]sgd.Clip{"whole": nil, "groups": grouped(0.5, 0.5)} {
		terms := 1
		trainer, _ := newTrainer(t, with(clip, 1, 4), shifting{newBlocky(2, 1), &terms}, 1e4)
		steps, failed := 0, error(nil)
		for _, err := range trainer.Steps(t.Context(), table(t, 9, 3, 1)) {
			if err != nil {
				failed = err
				break
			}
			if steps++; steps == 2 {
				terms = 3
			}
		}
		if failed == nil || steps != 2 {
			t.Errorf("%s: %d steps, %v", what, steps, failed)
		}
	}
}
