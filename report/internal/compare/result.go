package compare

import (
	"encoding/json"

	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// marked is the JSON form of every result.
type marked struct {
	Private bool   `json:"private"`
	Caveat  string `json:"caveat"`
	Kind    string `json:"kind"`
	Result  any    `json:"result"`
}

// JSON writes a result with its caveat.
func JSON(kind string, result any) ([]byte, error) {
	return json.Marshal(marked{Caveat: judge.Caveat, Kind: kind, Result: result})
}
