package synth

import (
	"encoding/json"

	"github.com/seed7ba64551/privgen/internal/param"
)

// unpriced returns the JSON of a configuration without the stages and prices of the plans within
// it. It returns the text unchanged if there are none. Prices identify no plan: another version may
// compute them more tightly, and another processor may round them differently.
func unpriced(config json.RawMessage) (json.RawMessage, error) {
	v, err := param.Any(config) // keeps every digit
	if err != nil {
		return nil, err
	}
	if !removePrices(v) {
		return config, nil
	}
	return json.Marshal(v)
}

// removePrices removes the stages and prices of all plans within a value. It reports whether there
// were any.
func removePrices(v any) (removed bool) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			removed = removePrices(element) || removed
		}
	case map[string]any:
		for _, element := range v {
			removed = removePrices(element) || removed
		}
		if isPlan(v) {
			delete(v, "stages")
			delete(v, "epsilon")
			removed = true
		}
	}
	return removed
}

// isPlan reports whether an object is a plan with its price; see planJSON.
func isPlan(v map[string]any) bool {
	for _, name := range []string{"version", "system", "schema", "budget", "config", "stages",
		"epsilon"} {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	return len(v) == 7
}
