package records_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// holders returns a value of every type of this package that holds records. Each holds 77123 or
// "mallory".
func holders(t *testing.T) map[string]any {
	table := must(records.FromFlat(records.Interval(2, 0, 1e6).WithLabels("a"),
		[]float32{77123, 77123}, 0))(t)
	schema := must(records.NewSchema(records.Numeric("x", 0, 1e6),
		records.Categorical("who", "alice", "mallory")))(t)
	builder := must(records.NewFrameBuilder(schema))(t)
	if err := builder.Append(77123, "mallory"); err != nil {
		t.Fatal(err)
	}
	frame := must(records.FromValues(schema, []any{77123, "mallory"}))(t)
	sets := must(records.FromItems(records.Sets(1<<20, 3), [][]uint32{{77123}}))(t)
	setBuilder := must(records.NewSetBuilder(sets.Schema()))(t)
	if err := setBuilder.Add([]uint32{77123}); err != nil {
		t.Fatal(err)
	}
	enforcer := must(records.NewEnforcer(schema, records.Determines([]string{"who", "x"})))(t)
	must(enforcer.Keep(frame, 1))(t)
	return map[string]any{
		"table": table, "table by value": *table, "slice": table.Slice(0, 1), "encoded": frame.Encoded(),
		"frame": frame, "frame by value": *frame, "builder": builder, "builder by value": *builder,
		"sets": sets, "sets by value": *sets,
		"set builder": setBuilder, "set builder by value": *setBuilder,
		"stated": records.WithUnit(sets, records.UnitUser), "clamped": records.Clamped(foreignData{sets}),
		"enforcer": enforcer, "enforcer by value": *enforcer,
		"binarized": records.Binarize(table, 5),
	}
}

// foreignData is a type of data that the package does not know.
type foreignData struct{ records.Data }

// An inside holds a value in an unexported field. For such fields package fmt does not call Format.
type inside struct{ hidden any }
type shown struct{ Shown any }

func TestRecordsPrintAsPrivate(t *testing.T) {
	for name, v := range holders(t) {
		for how, text := range map[string]string{
			"Sprint": fmt.Sprint(v), "%+v": fmt.Sprintf("%+v", v), "%#v": fmt.Sprintf("%#v", v),
			"%s": fmt.Sprintf("%s", v),
			"%d": fmt.Sprintf("%d", v), "%x": fmt.Sprintf("%x", v), "%q": fmt.Sprintf("%q", v),
			"%g":                fmt.Sprintf("%g", v),
			"an exported field": fmt.Sprintf("%+v", shown{v}), "a slice": fmt.Sprint([]any{v}),
			"a map": fmt.Sprintf("%#v", map[string]any{"a": v}),
			"text":  logged(t, false, v), "json log": logged(t, true, v),
			"nested log": logged(t, true, shown{v}),
			"json":       encoded(t, v), "nested json": encoded(t, shown{v}),
			"an error": fmt.Errorf("a: %v", v).Error(),
		} {
			if !strings.Contains(text, "[private]") || revealing(text) {
				t.Errorf("%s, %s: private values are revealed in %s", name, how, text)
			}
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s", "%q", "%g", "%t",
			"%p", "%w"} {
			for _, nested := range []any{inside{v}, &inside{v}, []inside{{v}}, inside{inside{v}},
				inside{shown{v}}, inside{[]any{v}}} {
				if text := fmt.Sprintf(verb, nested); revealing(text) {
					t.Errorf("%s under %s in an unexported field: private values are revealed in %s",
						name, verb, text)
				}
			}
		}
		var buffer bytes.Buffer
		_ = gob.NewEncoder(&buffer).Encode(v)
		// the last two bytes of 77123 in binary
		if revealing(buffer.String()) || bytes.Contains(buffer.Bytes(), []byte{0x2d, 0x43}) {
			t.Errorf("%s as gob: private values are revealed in %q", name, buffer.String())
		}
	}
}

// revealing reports whether a text contains the values of the record in any of several bases.
func revealing(text string) bool {
	return secret.MatchString(addresses.ReplaceAllString(text, ""))
}

// secret matches the values, and addresses matches addresses, which may contain any digits.
var (
	secret = regexp.MustCompile(
		`77123|7\.7123|12d43|12D43|226503|4796a18|40f2d43|4680036265414885376|mallory`)
	addresses = regexp.MustCompile(`(?i)(^|[^.\w])(0x|0o?)?[0-9a-f]{9,16}\b`)
)

func logged(t *testing.T, asJSON bool, v any) string {
	t.Helper()
	var out bytes.Buffer
	untimed := &slog.HandlerOptions{ReplaceAttr: func(g []string, a slog.Attr) slog.Attr {
		if len(g) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{} // its digits may equal those of a record
		}
		return a
	}}
	handler := slog.Handler(slog.NewTextHandler(&out, untimed))
	if asJSON {
		handler = slog.NewJSONHandler(&out, untimed)
	}
	slog.New(handler).Info("x", "v", v)
	return out.String()
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text := must(json.Marshal(v))(t)
	return string(text)
}

// TestBatchesPrintAsPrivate checks that batches are printed as private. A batch in an unexported
// field is private if the field is a pointer to it.
func TestBatchesPrintAsPrivate(t *testing.T) {
	table := must(records.FromFlat(records.Interval(1, 0, 1e6), []float32{77123}))(t)
	var b device.Batch
	table.Range(0, 1, &b)
	type job struct{ b *device.Batch }
	var z records.Nonzeros
	z.Range(table, 0, 1)
	for _, v := range []any{b, &b, shown{b}, []device.Batch{b}, z, &z, shown{z},
		[]records.Nonzeros{z}, map[string]*records.Nonzeros{"a": &z}} {
		for _, text := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v),
			logged(t, true, v), encoded(t, v)} {
			if !strings.Contains(text, "[private]") || revealing(text) {
				t.Errorf("%T: private values are revealed in %s", v, text)
			}
		}
		if _, inner := v.(shown); inner {
			continue // package gob wants interface types registered
		}
		var packed bytes.Buffer
		if err := gob.NewEncoder(&packed).Encode(v); err != nil ||
			!strings.Contains(packed.String(), "[private]") {
			t.Errorf("%T as gob: %q, %v", v, packed.String(), err)
		}
	}
	if text := fmt.Sprintf("%+v", job{&b}); revealing(text) {
		t.Error(text)
	}
}

// TestZeroValuesOfDataArePrintable checks that zero values can be printed and hold no records.
func TestZeroValuesOfDataArePrintable(t *testing.T) {
	for _, d := range []records.Data{&records.Table{}, &records.Frame{}, &records.SetTable{},
		(*records.Table)(nil), (*records.Frame)(nil), (*records.SetTable)(nil)} {
		if text := fmt.Sprintf("%v %+v %#v", d, d, inside{d}); strings.Contains(text, "PANIC") {
			t.Error(text)
		}
		if d.Len() != 0 || d.Schema().Validate() == nil {
			t.Errorf("%T has %d records of %v", d, d.Len(), d.Schema())
		}
		if err := records.Check(d); err != nil {
			t.Errorf("%T: Check returns %v", d, err)
		}
	}
}

// TestZeroEnforcerKeepsNothing: it prints, counts nothing and refuses records.
func TestZeroEnforcerKeepsNothing(t *testing.T) {
	var e records.Enforcer
	_, err := e.Keep(holders(t)["frame"].(*records.Frame), 1)
	if text := fmt.Sprint(e, inside{e}); err == nil || strings.Contains(text, "PANIC") ||
		e.Kept() != 0 || e.Tried() != 0 || len(e.Acceptance()) != 0 {
		t.Errorf("%s, %v, %d, %d, %v", text, err, e.Kept(), e.Tried(), e.Acceptance())
	}
}

// TestRecordsAreShownOnRequest checks that accessors and writers return the records themselves.
func TestRecordsAreShownOnRequest(t *testing.T) {
	frame := holders(t)["frame"].(*records.Frame)
	var out strings.Builder
	if err := (records.CSV{}).WriteFrame(&out, frame); err != nil ||
		out.String() != "77123,mallory\n" || frame.Value(0, 1) != "mallory" {
		t.Errorf("got file %q and error %v, want the values of the frame", out.String(), err)
	}
}
