package accountant

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// TestEveryKeyIsReadOnce: a text that states a parameter twice, in another spelling, or for another
// kind of event could be read in two ways, and is refused.
func TestEveryKeyIsReadOnce(t *testing.T) {
	const g = `{"kind":"gaussian","noise_multiplier":1}`
	for _, text := range []string{
		`{"kind":"gaussian","noise_multiplier":1,"noise_multiplier":1000}`,
		`{"kind":"gaussian","noise_multiplier":1,"noi` + "\u017f" + `e_multiplier":1000}`,
		`{"kind":"gaussian","Noise_Multiplier":1}`,
		`{"` + "\u212a" + `ind":"gaussian","noise_multiplier":1}`,
		`{"kind":"gaussian","kind":"pure","epsilon":1e-9}`,
		`{"kind":"repeated","event":` + g + `,"count":1000,"Count":1}`,
		`{"kind":"repeated","event":` + g + `,"count":1000,"probability":0.1}`,
		`{"kind":"poisson_sampled","probability":1,"PROBABILITY":0,"event":` + g + `}`,
		`{"kind":"composed","events":[{"kind":"gaussian","noise_multiplier":1,"kin\u0064":"pure"}]}`,
		g + g,
	} {
		if e, err := UnmarshalEvent([]byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, e)
		}
	}
	var key *param.KeyError
	err := json.Unmarshal([]byte(`{"epsilon":1,"delta":0,"epsilon":100}`), new(Budget))
	if !errors.As(err, &key) {
		t.Errorf("a budget with two ε: %v", err)
	}
}
