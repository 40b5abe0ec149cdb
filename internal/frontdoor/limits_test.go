package frontdoor_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPlansThatNameHugeNetworks checks that a plan file of a kilobyte with a huge network is
// refused before memory is allocated for the network. Callers must be able to change the limit.
func TestPlansThatNameHugeNetworks(t *testing.T) {
	s, b := records.Sets(15, 4), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	refused := 0
	for _, p := range everyPlan(t, s, b) {
		text := must(json.Marshal(p))(t)
		for _, width := range []string{"1000000", "100000000", "1000000000"} {
			huge := strings.Replace(string(text), `"hidden":[4]`, `"hidden":[`+width+`]`, 1)
			if p.System() == "merf" { // its default architecture is not written
				huge = strings.Replace(string(text), `"generator":{`,
					`"generator":{"architecture":{"name":"mlp",`+
						`"params":{"hidden":[`+width+`]}},`, 1)
			}
			if huge == string(text) {
				continue // a system without networks
			}
			refused++
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := privgen.ReadPlan([]byte(huge))
			runtime.ReadMemStats(&after)
			var limit *records.LimitError
			if !errors.As(err, &limit) || limit.Limit != "Parameters" || !errors.Is(err, privgen.ErrFormat) {
				t.Fatalf("%s, %s units: %v", p.System(), width, err) // wider networks would take hours
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
				t.Errorf("%s, %s units: %d bytes are allocated, want at most 1 MB", p.System(), width, got)
			}
		}
		few, many := records.Limits{Parameters: 10}, records.Limits{Parameters: 1 << 40}
		if _, err := privgen.ReadPlan(text, synth.WithLimits(many)); err != nil {
			t.Errorf("%s, a raised limit: %v", p.System(), err)
		}
		var limit *records.LimitError
		if _, err := privgen.ReadPlan(text,
			synth.WithLimits(few)); slices.Contains([]string{"dpgm", "merf",
			"gan"}, p.System()) != errors.As(err, &limit) {
			t.Errorf("%s, ten parameters: %v", p.System(), err)
		}
		var wrong *param.Error
		negative := synth.WithLimits(records.Limits{Parameters: -1})
		if _, err := privgen.ReadPlan(text, negative); !errors.As(err, &wrong) {
			t.Errorf("%s, a negative limit: %v", p.System(), err)
		}
	}
	if refused < 9 {
		t.Errorf("only %d plans have networks", refused)
	}
}

// TestPlansWithoutTheirNoise checks that a plan file is refused if a noise multiplier is missing or
// 0. It must be refused before a search for the noise begins.
func TestPlansWithoutTheirNoise(t *testing.T) {
	s, b := records.Sets(15, 4), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	field := regexp.MustCompile(`"noise_multiplier":[0-9.e+-]+`)
	tried := 0
	mixtures := must(mixChain().Plan())(t)
	for _, p := range append(everyPlan(t, s, b), mixtures) {
		text := must(json.Marshal(p))(t)
		var plan map[string]json.RawMessage
		if err := json.Unmarshal(text, &plan); err != nil {
			t.Fatal(err)
		}
		config := plan["config"]
		if !slices.Contains([]string{"dpgm", "merf", "gan", "mix"}, p.System()) {
			continue // the baselines always search, with few parameters
		}
		for _, without := range []string{`"noise_multiplier":0`, `"x":1`} {
			tried++
			plan["config"] = field.ReplaceAll(config, []byte(without))
			less := must(json.Marshal(plan))(t)
			if _, err := privgen.ReadPlan(less); !errors.Is(err, privgen.ErrFormat) {
				t.Errorf("%s with %s: %v", p.System(), without, err)
			}
		}
	}
	if tried < 8 {
		t.Errorf("only %d plans", tried)
	}
}
