package accountant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/strictjson"
	"github.com/seed7ba64551/privgen/param"
)

// maxEventDepth bounds nesting, so that a hostile file cannot exhaust the stack.
const maxEventDepth = 32

// MarshalEvent writes an event as JSON that names its kind. [UnmarshalEvent] reads it back to an
// equal value.
//
// Errors: *param.Error for nil or an invalid event.
func MarshalEvent(e Event) ([]byte, error) {
	if e == nil {
		return nil, param.New("accountant.MarshalEvent", nil, "an event")
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(eventJSON{e})
}

// UnmarshalEvent reads an event that MarshalEvent wrote, and validates it. A missing field is an
// error. For example, a missing sampling probability would otherwise be read as 0, and a
// probability of 0 costs nothing.
//
// Errors: *param.Error for missing fields, parameters out of range and events nested too deep; an
// error that names an unknown kind or field; the error of encoding/json for other text.
func UnmarshalEvent(data []byte) (Event, error) {
	e, err := decodeEvent(data, 0)
	if err != nil {
		return nil, err
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	whole, err := MarshalEvent(e)
	if err != nil {
		return nil, err
	}
	return e, complete("accountant.Event", data, whole)
}

// EqualEvents reports whether two events have the same canonical text.
func EqualEvents(a, b Event) bool {
	ka, errA := eventKey(a)
	kb, errB := eventKey(b)
	return errA == nil && errB == nil && ka == kb
}

// eventKey returns the canonical text of an event; equal texts are equal events.
func eventKey(e Event) (string, error) {
	b, err := MarshalEvent(e)
	return string(b), err
}

// eventJSON adds the kind in front of an event's own fields.
type eventJSON struct{ Event }

func (w eventJSON) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(jsonFields(w.Event))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"kind":%q`, w.kind())
	if len(body) > 2 {
		out.WriteByte(',')
		out.Write(body[1 : len(body)-1])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func wrapAll(events []Event) []eventJSON {
	out := make([]eventJSON, len(events))
	for i, e := range events {
		out[i] = eventJSON{e}
	}
	return out
}

// jsonFields replaces nested events by their wrapped forms; leaf events marshal as they are.
func jsonFields(e Event) any {
	switch v := e.(type) {
	case PoissonSampled:
		return struct {
			Probability float64   `json:"probability"`
			Event       eventJSON `json:"event"`
		}{v.Probability, eventJSON{v.Event}}
	case SampledWithoutReplacement:
		return struct {
			Population int       `json:"population"`
			Sample     int       `json:"sample"`
			Event      eventJSON `json:"event"`
		}{v.Population, v.Sample, eventJSON{v.Event}}
	case Repeated:
		return struct {
			Event eventJSON `json:"event"`
			Count int       `json:"count"`
		}{eventJSON{v.Event}, v.Count}
	case Composed:
		return struct {
			Events []eventJSON `json:"events"`
		}{wrapAll(v.Events)}
	case OneOf:
		return struct {
			Events []eventJSON `json:"events"`
		}{wrapAll(v.Events)}
	case Disjoint:
		return struct {
			Parts  []eventJSON `json:"parts"`
			Moving []eventJSON `json:"moving,omitempty"`
			Fixed  bool        `json:"fixed,omitempty"`
		}{wrapAll(v.Parts), wrapAll(v.Moving), v.Fixed}
	case RepeatAndSelect:
		return struct {
			Event   eventJSON `json:"event"`
			Mean    float64   `json:"mean"`
			Shape   float64   `json:"shape"`
			Poisson bool      `json:"poisson,omitempty"`
		}{eventJSON{v.Event}, v.Mean, v.Shape, v.Poisson}
	}
	return e
}

// complete compares given with whole, the canonical text of the value read from given. It returns
// an error that names each field missing from given. A missing field is read as zero, and a file
// must not lower its cost by leaving out a field.
func complete(path string, given, whole []byte) error {
	var g, w any
	if err := errors.Join(strictjson.Decode(given, &g), strictjson.Decode(whole, &w)); err != nil {
		return err
	}
	return covers(path, g, w)
}

func covers(path string, given, whole any) error {
	var errs []error
	switch w := whole.(type) {
	case map[string]any:
		g, _ := given.(map[string]any)
		for k, v := range w {
			if x, ok := g[k]; !ok || x == nil && v != nil {
				errs = append(errs, param.New(path+"."+k, nil, "a value"))
			} else {
				errs = append(errs, covers(path+"."+k, x, v))
			}
		}
	case []any:
		g, _ := given.([]any)
		for i, v := range w {
			if i < len(g) {
				errs = append(errs, covers(fmt.Sprintf("%s[%d]", path, i), g[i], v))
			}
		}
	}
	return errors.Join(errs...)
}

// decodeLeaf reads an event that contains no other event.
func decodeLeaf[E Event](fields map[string]json.RawMessage) (Event, error) {
	var e E
	delete(fields, "kind")
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	err = strictjson.Decode(body, &e)
	return e, err
}

func decodeAll(raw []json.RawMessage, depth int) ([]Event, error) {
	var out []Event
	for _, r := range raw {
		e, err := decodeEvent(r, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func decodeEvent(data []byte, depth int) (Event, error) {
	if depth > maxEventDepth {
		return nil, tooDeep(depth)
	}
	var fields map[string]json.RawMessage
	var kind string
	err := strictjson.Decode(data, &fields)
	if text, given := fields["kind"]; err == nil && given {
		err = strictjson.Decode(text, &kind)
	}
	if err != nil {
		return nil, fmt.Errorf("accountant: event: %w", err)
	}
	e, err := decodeKind(kind, data, fields, depth+1)
	if err != nil {
		return nil, fmt.Errorf("accountant: event %.40q: %w", kind, err)
	}
	for name := range fields { // the keys of a nested event may be another kind's
		if name != "kind" && !strictjson.HasField(jsonFields(e), name) {
			return nil, fmt.Errorf("accountant: event %q: unknown field %.40q", kind, name)
		}
	}
	return e, nil
}

func decodeKind(kind string, data []byte, fields map[string]json.RawMessage, depth int) (Event,
	error) {
	switch kind {
	case "gaussian":
		return decodeLeaf[Gaussian](fields)
	case "laplace":
		return decodeLeaf[Laplace](fields)
	case "discrete_gaussian":
		return decodeLeaf[DiscreteGaussian](fields)
	case "discrete_laplace":
		return decodeLeaf[DiscreteLaplace](fields)
	case "randomized_response":
		return decodeLeaf[RandomizedResponse](fields)
	case "exponential_mechanism":
		return decodeLeaf[ExponentialMechanism](fields)
	case "pure":
		return decodeLeaf[Pure](fields)
	case "approximate":
		return decodeLeaf[Approximate](fields)
	case "zcdp":
		return decodeLeaf[ZCDP](fields)
	case "truncated_poisson":
		return decodeLeaf[TruncatedPoisson](fields)
	case "sampled_sum":
		return decodeLeaf[SampledSum](fields)
	case "same_batch":
		return decodeLeaf[SameBatch](fields)
	case "gaussian_mixture":
		return decodeLeaf[GaussianMixture](fields)
	case "curve":
		return decodeLeaf[Curve](fields)
	}
	return decodeNested(kind, data, depth)
}

// eventKinds lists the kinds of events, for errors.
const eventKinds = "gaussian, laplace, discrete_gaussian, discrete_laplace, randomized_response, " +
	"exponential_mechanism, pure, approximate, zcdp, truncated_poisson, sampled_sum, same_batch, " +
	"gaussian_mixture, curve, composed, one_of, disjoint, poisson_sampled, " +
	"sampled_without_replacement, repeated, repeat_and_select"

func decodeNested(kind string, data []byte, depth int) (Event, error) {
	var raw struct {
		Kind        string            `json:"kind"`
		Probability float64           `json:"probability"`
		Population  int               `json:"population"`
		Sample      int               `json:"sample"`
		Count       int               `json:"count"`
		Mean        float64           `json:"mean"`
		Shape       float64           `json:"shape"`
		Poisson     bool              `json:"poisson"`
		Event       json.RawMessage   `json:"event"`
		Events      []json.RawMessage `json:"events"`
		Parts       []json.RawMessage `json:"parts"`
		Moving      []json.RawMessage `json:"moving"`
		Fixed       bool              `json:"fixed"`
	}
	if err := strictjson.Decode(data, &raw); err != nil {
		return nil, err
	}
	switch kind {
	case "composed":
		events, err := decodeAll(raw.Events, depth)
		return Composed{events}, err
	case "one_of":
		events, err := decodeAll(raw.Events, depth)
		return OneOf{events}, err
	case "disjoint":
		parts, err := decodeAll(raw.Parts, depth)
		if err != nil {
			return nil, err
		}
		moving, err := decodeAll(raw.Moving, depth)
		return Disjoint{parts, moving, raw.Fixed}, err
	case "poisson_sampled", "sampled_without_replacement", "repeated", "repeat_and_select":
	default:
		return nil, param.New("accountant.Event.kind", kind, "one of "+eventKinds)
	}
	e, err := decodeEvent(raw.Event, depth)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "poisson_sampled":
		return PoissonSampled{raw.Probability, e}, nil
	case "sampled_without_replacement":
		return SampledWithoutReplacement{raw.Population, raw.Sample, e}, nil
	case "repeated":
		return Repeated{e, raw.Count}, nil
	}
	return RepeatAndSelect{e, raw.Mean, raw.Shape, raw.Poisson}, nil
}
