package sgd

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestConfigSurvivesJSON(t *testing.T) {
	base := Config{SamplingProbability: 0.01, Bands: 3, Steps: 30, NoiseMultiplier: 1.5,
		Optimizer:    Adam(1e-3),
		NominalBatch: 600, MicroBatch: 128}
	for _, clip := range []Clip{nil, DPNorm{MaxNorm: 10, Bins: 100, NoiseMultiplier: 4},
		Quantile{Quantile: 0.5, Initial: 1, Rate: 0.2, NoiseMultiplier: 10}, Normalize{Stability: 0.1}} {
		c := base
		if c.Clip = clip; clip == nil {
			c.ClipNorm = 2
		}
		c.RandomAllocation, c.Shuffled = clip == nil, clip != nil
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var got Config
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, c) {
			t.Errorf("%s read back as %+v, want %+v", text, got, c)
		}
	}
	for _, bad := range []string{`{"clip":{}}`, `{"clip":{"normalize":{},"quantile":{}}}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), new(Config)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
