package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// searchBlock is the number of records that are drawn between two looks at the clock.
const searchBlock = 1 << 14

// search draws records that meet conditions. The model meets what it can exactly. If the other
// conditions are so rare that the library gives up, search goes on for a limited time, and ends
// with the records that were found.
type search struct {
	gen        *privgen.Generator
	opts       []privgen.DrawOption // of every draw: the class
	conditions []records.Constraint
	seed       uint64
	n          int // number of records that are wanted
	attempts   int // draws for each of them before the library gives up
	most       int // draws of the search in all
	limit      time.Duration

	rules *records.Enforcer // of the records found so far
	found int
	early int  // found before the search
	tried int  // draws of the search
	ended bool // whether the search ended before all were found
	unmet int  // records that meet the conditions, though no attempt of the model did
}

// parts yields the records that are found. A search that finds none ends with the library's error.
func (s *search) parts(ctx context.Context) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		all := append(s.gen.Schema().Constraints(), s.conditions...)
		var err error
		if s.rules, err = records.NewEnforcer(s.gen.Schema(), all...); err != nil {
			yield(nil, err)
			return
		}
		var rare *synth.Rejected
		for part, err := range s.stream(ctx, s.n, s.seed, s.conditions) {
			if errors.As(err, &rare) {
				break
			}
			if err == nil {
				part, err = s.rules.Keep(part, part.Len()) // which remembers what must be unique
			}
			if err == nil {
				s.found += part.Len()
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
		if rare == nil {
			return
		}
		if rare.Tried > 0 && !s.goOn(ctx, rare.Exact, yield) {
			return
		}
		if s.ended = s.found < s.n; s.found == 0 {
			yield(nil, s.none(rare))
		}
	}
}

// goOn draws and rejects records until all are found, or the effort is spent. It returns false if
// nothing more may be yielded.
func (s *search) goOn(ctx context.Context, exact []string,
	yield func(records.Data, error) bool) bool {
	s.early = s.found
	var sure []records.Constraint
	for _, c := range s.conditions {
		if slices.Contains(exact, c.String()) {
			sure = append(sure, c)
		}
	}
	begun := time.Now()
	for block := uint64(1); s.found < s.n && s.tried < s.most && time.Since(begun) < s.limit; block++ {
		seed := s.seed ^ block*0x9e3779b97f4a7c15 // other records than those of the first draws
		for part, err := range s.stream(ctx, min(searchBlock, s.most-s.tried), seed, sure) {
			if isA[*synth.Rejected](err) {
				return true // the schema's own constraints are rare
			}
			if err == nil {
				s.tried += part.Len()
				part, err = s.rules.Keep(part, s.n-s.found)
			}
			if err == nil && part.Len() > 0 {
				part, err = records.WithIdentifiers(part, s.found, s.seed)
			}
			if err != nil {
				yield(nil, err)
				return false
			}
			s.found += part.Len()
			if part.Len() > 0 && !yield(part, nil) {
				return false
			}
		}
	}
	return true
}

func (s *search) stream(ctx context.Context, n int, seed uint64,
	conditions []records.Constraint) iter.Seq2[records.Data, error] {
	opts := append(slices.Clone(s.opts), privgen.Seed(seed), privgen.Effort(s.attempts),
		synth.OnAccepted(func(a synth.Accepted) { s.unmet += a.Unaccepted }))
	if len(conditions) > 0 {
		opts = append(opts, privgen.Given(conditions...))
	}
	return s.gen.Stream(ctx, n, opts...)
}

// none returns the error of a search that found no record.
func (s *search) none(rare *synth.Rejected) error {
	if rare.Tried == 0 {
		return usagef("--where: %w", rare)
	}
	var each []string
	for _, a := range s.rules.Acceptance() {
		each = append(each, a.String())
	}
	return usagef("--where: none of %d synthetic records meets all conditions: %s: want other conditions, or "+
		"a longer --search or more --attempts", s.tried, strings.Join(each, "; "))
}

// words says what an incomplete search has found.
func (s *search) words() string {
	return fmt.Sprintf("only %d of %d records were found: about one of %s synthetic records meets the "+
		"conditions that the system cannot meet exactly; a longer --search finds more", s.found, s.n,
		odds(float64(s.tried)/math.Max(float64(s.found-s.early), 1)))
}

// odds writes a large number with two digits.
func odds(x float64) string {
	unit := math.Pow(10, math.Max(math.Floor(math.Log10(x))-1, 0))
	return fmt.Sprintf("%.0f", math.Round(x/unit)*unit)
}

// readConstraints reads a file of constraints on a table: a list in the form of a schema's field
// "constraints", or an object with this field.
func readConstraints(path string, s records.Schema) ([]records.Constraint, error) {
	text, err := readFile(path, mostPlan)
	if err != nil {
		return nil, err
	}
	var file struct {
		Constraints json.RawMessage `json:"constraints"`
	}
	if file.Constraints = text; bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		file.Constraints = nil
		if err := param.Decode(text, &file); err != nil {
			return nil, located(path, err)
		}
	}
	var schema bytes.Buffer
	if err := records.WriteSchema(&schema, s); err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := param.Decode(schema.Bytes(), &fields); err != nil {
		return nil, err
	}
	fields["constraints"] = file.Constraints
	joined, err := json.Marshal(fields)
	if err != nil {
		return nil, inputf("%s: want a list of constraints in JSON, as in a schema's field \"constraints\"", path)
	}
	with, err := records.ReadSchema(bytes.NewReader(joined))
	if err != nil {
		return nil, located(path, err)
	}
	list := with.Constraints()
	if len(list) == 0 {
		return nil, inputf("%s: got no constraints: want a list, as in a schema's field \"constraints\"", path)
	}
	return list, nil
}
