package judge

import "encoding/json"

// Mark and Caveat are part of every result.
const (
	Mark   = "[not private] "
	Caveat = "computed from real records; covered by no ε"
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
	return json.Marshal(marked{Caveat: Caveat, Kind: kind, Result: result})
}
