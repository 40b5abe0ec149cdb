package ledger

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Terms are the permanent settings of a ledger in a journal, stored in its first line. Every
// process that opens the ledger applies them.
type Terms struct {
	Name        string            `json:"name"`           // such as "patients-2026"
	Unit        string            `json:"unit,omitempty"` // see WithUnit; empty for a record
	Budget      accountant.Budget `json:"budget"`
	FilterOrder float64           `json:"filter_order,omitempty"` // see WithFilter; 0 for none
	Limits      []Limit           `json:"limits,omitempty"`       // restrictions beyond the budget
}

const mostLimits = 64

// maxName bounds names of ledgers, so that every store can use them as names of files or keys of
// tables.
const maxName = 128

// ValidateName returns an error for a name that some store could not use. A valid name has 1
// to 128 bytes of lower-case letters, digits, '-', '_' and '.', and begins with a letter or a
// digit.
//
// Errors: *param.Error.
func ValidateName(name string) error {
	const want = "1 to 128 of a-z, 0-9, '-', '_' and '.', the first a letter or a digit"
	ok := name != "" && len(name) <= maxName && !strings.ContainsAny(name[:1], "-_.")
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	if !ok {
		return param.New("ledger.Terms.Name", fmt.Sprintf("%.200q", name), want)
	}
	return nil
}

// Validate reports every mistake at once.
//
// Errors: *param.Error values, joined.
func (t Terms) Validate() error {
	errs := []error{ValidateName(t.Name), t.Budget.Validate(),
		checkUnit("ledger.Terms.Unit", t.Unit)}
	if t.FilterOrder != 0 {
		errs = append(errs, checkFilter("ledger.Terms.FilterOrder", t.FilterOrder))
	}
	if n := len(t.Limits); n > mostLimits { // each may take a price
		errs = append(errs, param.New("ledger.Terms.Limits", n, "at most 64 limits"))
	}
	for i, limit := range t.Limits[:min(len(t.Limits), mostLimits)] {
		errs = append(errs, limit.validate(fmt.Sprintf("ledger.Terms.Limits[%d]", i)))
	}
	return errors.Join(errs...)
}
