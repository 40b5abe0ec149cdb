package evaluate_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// address matches addresses in memory, which may contain any digits.
var address = regexp.MustCompile(`[0-9a-f]{9,}`)

// TestReadRecordsPrintNothing prints an index whose only item is in 77123 records, a training
// set, and a classifier.
func TestReadRecordsPrintNothing(t *testing.T) {
	rows, err := records.FromFlat(records.Binary(1), slices.Repeat([]float32{1}, 77123))
	if err != nil {
		t.Fatal(err)
	}
	x, err := evaluate.NewIndex(rows)
	if err != nil {
		t.Fatal(err)
	}
	labelled, err := records.FromFlat(records.Interval(1, 0, 1e6).WithLabels("a", "b"),
		[]float32{77123, 77123}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	set, err := classify.Read(labelled)
	if err != nil {
		t.Fatal(err)
	}
	by, err := classify.LogisticRegression{}.Fit(labelled)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	for _, v := range []any{x, *x, []any{x}, struct{ V any }{x}, struct{ v any }{*x},
		struct{ evaluate.Index }{*x}, set, *set, []any{set}, struct{ V any }{set},
		struct{ v any }{*set}, struct{ classify.TrainingSet }{*set},
		by, *by, []any{by}, struct{ V any }{by}, struct{ v any }{*by},
		struct{ *classify.Classifier }{by}} {
		text, _ := json.Marshal(v)
		fmt.Fprintf(&out, "%v %+v %#v %d %x %s\n", v, v, v, v, v, v)
		fmt.Fprintf(&out, "%s\n", text)
		log.Info("records", "v", v)
	}
	text := address.ReplaceAllString(out.String(), "")
	if x.Count(0) != 77123 || !strings.Contains(text, "[private]") {
		t.Errorf("the index counts %d records and prints %q", x.Count(0), text)
	}
	for _, secret := range []string{"77123", "12d43"} {
		if strings.Contains(text, secret) {
			t.Errorf("an index, a training set or a classifier prints %s", secret)
		}
	}
}
