package report

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/report/fidelity"
)

// Version is the version of the JSON form. Readers may rely on every field of their version.
const Version = 1

// Caveat is the warning that every report computed from real records carries.
const Caveat = "Not private. This report was computed from the real records without noise: no ε " +
	"covers its figures. Show it only to people who may see the records themselves."

// A Report holds everything that the page shows. [Report.WriteHTML] writes the page; the JSON form
// holds the same numbers.
type Report struct {
	Version int    `json:"version"`
	Title   string `json:"title"`
	System  string `json:"system"`
	Schema  string `json:"schema"` // in words
	// Public means that the report has only released numbers, and may be published.
	Public bool   `json:"public"`
	Caveat string `json:"caveat,omitempty"` // empty if Public

	Promise     Promise            `json:"guarantee"`
	Bill        []BillLine         `json:"bill"`
	Sizes       Sizes              `json:"sizes"`
	Columns     []Column           `json:"columns,omitempty"`
	Quality     *Quality           `json:"quality,omitempty"`
	ThreeWay    *ThreeWay          `json:"three_way,omitempty"`
	Sets        *Sets              `json:"sets,omitempty"`
	Images      *Images            `json:"images,omitempty"`
	Classifiers *Classifiers       `json:"classifiers,omitempty"`
	Ceiling     *Ceiling           `json:"noise_ceiling,omitempty"`
	Propensity  *Propensity        `json:"propensity,omitempty"`
	Queries     *Queries           `json:"queries,omitempty"`
	Risk        *Risk              `json:"risk,omitempty"`
	Fidelity    *fidelity.Released `json:"released_fidelity,omitempty"`
	Omitted     []Omission         `json:"omitted,omitempty"`
}

// Promise is the guarantee, in words and in full.
type Promise struct {
	Words   []string          `json:"words"` // sentences for readers without mathematics
	Auditor *ledger.Guarantee `json:"auditor,omitempty"`
	// Attack is the highest accuracy with which the membership of one record can be guessed under the
	// guarantee; guessing at random has ½.
	Attack Number `json:"best_guess"`
	// Answers are the answers of [Answers]; nil without a guarantee.
	Answers []Answer `json:"answers,omitempty"`
}

// BillLine is one stage that was paid for.
type BillLine struct {
	Purpose     string `json:"purpose"`
	Description string `json:"description"`
	Count       int    `json:"count"`
	// Epsilon is the price of the stage alone. The stages together cost less than the sum of these
	// prices.
	Epsilon Number `json:"epsilon_alone"`
}

// Sizes are the numbers of records available and compared.
type Sizes struct {
	Real      int `json:"real,omitempty"`
	HeldOut   int `json:"held_out,omitempty"`
	Synthetic int `json:"synthetic"`
	Compared  int `json:"compared,omitempty"` // of each kind
	Trained   int `json:"trained,omitempty"`  // of each kind, that classifiers are trained on
	// Sampling states which comparisons did not use all records.
	Sampling []string `json:"sampling,omitempty"`
	// Outside states how many cells of the real records are outside the schema.
	Outside []string `json:"outside_schema,omitempty"`
}

// Omission is a section that was left out.
type Omission struct {
	Section string `json:"section"`
	Reason  string `json:"reason"`
}

// Beside is one measure of synthetic records against the real ones, and of held-out real records
// against the real ones. The second is the best possible value; it is null without held-out
// records.
type Beside struct {
	Synthetic Number `json:"synthetic"`
	HeldOut   Number `json:"held_out"`
}

// Column is one column, real and synthetic. Shares are fractions of all records of their kind,
// including records with a missing value.
type Column struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Number bool   `json:"number"`
	// Bars are the levels, or the bins of a number between its public bounds.
	Bars    []Bar `json:"bars"`
	Missing *Bar  `json:"missing,omitempty"` // if a missing value has a level of its own
	// More is the number of levels without a bar; the last bar, "other levels", combines them.
	More int `json:"more,omitempty"`
}

// Bar is the share of one level, or of a bin [From, To) of a number.
type Bar struct {
	Label     string `json:"label"`
	From      Number `json:"from"`
	To        Number `json:"to"`
	Real      Number `json:"real"`
	Synthetic Number `json:"synthetic"`
}

// Number is a float64 that JSON writes as null if it is NaN, and as the text "+Inf" or "-Inf" if
// it is infinite.
type Number float64

// none is NaN, for a missing number.
var none = Number(math.NaN())

// IsNone reports whether there is no number.
func (n Number) IsNone() bool { return math.IsNaN(float64(n)) }

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte("null"), nil
	case math.IsInf(v, 0):
		return json.Marshal(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads a number that MarshalJSON wrote.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = none
		return nil
	}
	if len(text) > 0 && text[0] == '"' {
		v, err := strconv.ParseFloat(string(text[1:max(len(text)-1, 1)]), 64)
		*n = Number(v)
		return err
	}
	return param.Decode(text, (*float64)(n))
}
