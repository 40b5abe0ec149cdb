package evaluate

import (
	"encoding/json"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Every result carries these words.
const (
	mark   = "[not private] "
	caveat = "computed from real records; covered by no ε"
)

// marked is the JSON form of every result.
type marked struct {
	Private bool   `json:"private"`
	Caveat  string `json:"caveat"`
	Kind    string `json:"kind"`
	Result  any    `json:"result"`
}

func marshal(kind string, result any) ([]byte, error) {
	return json.Marshal(marked{Caveat: caveat, Kind: kind, Result: result})
}

// given refuses records that are missing.
func given(path string, all ...records.Data) error {
	for _, d := range all {
		if d == nil {
			return param.New(path, nil, "records")
		}
	}
	return nil
}

// ratio is a/b, 0 where there is nothing to divide by.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
