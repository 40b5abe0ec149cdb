package synth

import (
	"context"
	"iter"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

// A drawing is the state of one draw from a generator.
type drawing struct {
	Sampler
	draw  Draw
	rules *records.Enforcer // nil if there are no constraints
	exact []string          // constraints that the model itself meets exactly

	probability float64 // joint probability of exact, if the model knows it

	windowTried, windowKept int
}

// A Conditional is a model that can be conditioned exactly on some constraints: its samplers then
// draw from the model's distribution given these constraints, without rejecting records.
type Conditional interface {
	Model
	// Condition returns the model conditioned on some of the constraints, the positions of these
	// constraints in the list, and their joint probability. It may leave out any constraint, since the
	// draw enforces all constraints afterwards.
	Condition(constraints []records.Constraint) (m Model, met []int, probability float64)
}

// open begins a draw.
func (g *Generator) open(n int, d Draw) (*drawing, error) {
	if err := g.made(); err != nil {
		return nil, err
	}
	model, list := g.model, d.Given
	if !d.Unconstrained {
		list = append(g.Schema().Constraints(), d.Given...)
	}
	out := &drawing{draw: d}
	out.class(g.Schema(), list)
	if err := g.check(n, out.draw); err != nil {
		return nil, err
	}
	if m, ok := model.(Conditional); ok && len(list) > 0 {
		if _, err := records.NewEnforcer(g.Schema(), list...); err != nil {
			return nil, err
		}
		given, met, probability := m.Condition(list)
		known := true
		if only, of := ofClass(g.Schema(), d.Class); of {
			probability, known = within(m, list, only, met, probability)
		}
		for _, i := range met {
			if text := list[i].String(); !slices.Contains(out.exact, text) {
				out.exact = append(out.exact, text)
			}
		}
		if probability == 0 {
			return nil, &Rejected{Accepted{Exact: out.exact}, out.draw.effort()}
		}
		if model = given; len(met) > 0 && known {
			out.probability = probability
		}
	}
	var err error
	if out.Sampler, err = model.Sampler(out.draw); err != nil {
		return nil, err
	}
	if len(list) > 0 {
		out.rules, err = records.NewEnforcer(out.Schema, list...)
	}
	return out, err
}

// ofClass returns the constraint that a draw from one class of a table obeys; of is false for
// other draws.
func ofClass(s records.Schema, class int) (only records.Constraint, of bool) {
	for _, column := range s.Columns() {
		if column.Kind() == records.LabelColumn && class >= 0 {
			return records.Only(column.Name(), column.Levels()[class]), true
		}
	}
	return only, false
}

// within returns the probability that a record of a class meets some constraints of a list; met has
// their positions. If the model cannot be conditioned on these constraints and the class together,
// within returns false and the argument among, which is their probability among all records.
func within(m Conditional, list []records.Constraint, class records.Constraint, met []int,
	among float64) (probability float64, known bool) {
	_, own, alone := m.Condition([]records.Constraint{class})
	if len(own) == 0 || alone == 0 {
		return among, false
	}
	_, together, both := m.Condition(append(slices.Clone(list), class))
	if !slices.Contains(together, len(list)) || !slices.Equal(met, together[:len(together)-1]) {
		return among, false
	}
	return both / alone, true
}

// class restricts the draw to one class if a constraint requires this class. Every model of
// labelled records can draw from one class.
func (s *drawing) class(schema records.Schema, list []records.Constraint) {
	for _, c := range list {
		value, one := c.Value()
		if !one || s.draw.Class >= 0 {
			continue
		}
		for _, column := range schema.Columns() {
			if column.Kind() != records.LabelColumn || c.Columns()[0] != column.Name() {
				continue
			}
			for label, level := range column.Levels() {
				if level == value {
					s.draw.Class = label
					s.exact = append(s.exact, c.String())
				}
			}
		}
	}
}

// chunks generates the records in chunks of at most SampleChunk.
func (s *drawing) chunks(ctx context.Context, n int) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		defer s.tell()
		for lo := 0; lo < n; lo += SampleChunk {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			chunk, err := s.next(ctx, min(SampleChunk, n-lo))
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && !s.draw.Unidentified {
				chunk, err = records.WithIdentifiers(chunk, lo, s.draw.Seed)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// next generates n records that obey the constraints.
func (s *drawing) next(ctx context.Context, n int) (records.Data, error) {
	if s.rules == nil {
		return s.Next(n)
	}
	var parts []records.Data
	for have := 0; have < n; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := s.Next(s.ask(n - have))
		if err != nil {
			return nil, err
		}
		tried, kept := s.rules.Tried(), s.rules.Kept()
		some, err = s.rules.Keep(some, n-have)
		if err != nil {
			return nil, err
		}
		parts, have = append(parts, some), have+some.Len()
		s.windowTried += s.rules.Tried() - tried
		s.windowKept += s.rules.Kept() - kept
		if have < n && s.hopeless() {
			return nil, &Rejected{s.accepted(), s.draw.effort()}
		}
	}
	return records.Concat(s.Schema, parts...)
}

// ask returns the number of records to generate at once to obtain the given number. It uses the
// acceptance so far and adds a few records.
func (s *drawing) ask(want int) int {
	rate := float64(s.rules.Kept()+1) / float64(s.rules.Tried()+1)
	return int(min(1.05*float64(want)/rate+16, SampleChunk))
}

// fewest is the number of records that a draw must keep of the last fewest·effort generated
// records.
const fewest = 8

// hopeless reports whether fewer records are kept than the effort demands. It counts only the
// latest records, since the values of a unique key can run out during a draw.
func (s *drawing) hopeless() bool {
	if s.windowTried/fewest < s.draw.effort() { // fewest·effort may overflow
		return false
	}
	few := s.windowKept < fewest
	s.windowTried, s.windowKept = 0, 0
	return few
}

// accepted returns how many records met the constraints so far, and how many the model did not
// accept.
func (s *drawing) accepted() Accepted {
	a := Accepted{Exact: s.exact, Probability: s.probability}
	if s.rules != nil {
		a.Kept, a.Tried, a.Each = s.rules.Kept(), s.rules.Tried(), s.rules.Acceptance()
	}
	if s.Unaccepted != nil {
		a.Unaccepted = s.Unaccepted()
	}
	return a
}

// tell calls OnAccepted, if it is set.
func (s *drawing) tell() {
	if s.draw.OnAccepted != nil {
		s.draw.OnAccepted(s.accepted())
	}
}
