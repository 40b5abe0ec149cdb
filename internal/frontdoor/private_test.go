package frontdoor_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// workers returns values of the types outside package records that hold records, or numbers
// computed from records without noise. All numbers in the records are 77123.
func workers(t *testing.T) map[string]any {
	t.Helper()
	made := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := []float32{77123, 77123, 77123, 77123}
	s := records.Interval(2, 0, 1e6)
	data, err := records.FromFlat(s, rows)
	made(err)
	var batch device.Batch
	data.Range(0, 2, &batch)
	b := accountant.Budget{Epsilon: 100, Delta: 1e-5}

	sum := mechanism.NewFixedSum(1, 1)
	sum.AddInt(0, 77123)
	counts, err := mechanism.NewNormHistogram(0, 10, 2)
	made(err)
	for range 77123 {
		counts.Add(1)
	}
	plan, err := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 4, Bandwidth: 1}}.Plan()
	made(err)
	partial := plan.NewPartial()
	made(partial.Add(t.Context(), data))
	net, err := models.VAE{Latent: 2, Hidden: []int{4}}.New(device.CPU(), models.Visible{Dim: 2,
		Likelihood: models.GaussianUnit}, 1)
	made(err)
	trainer, err := sgd.New(sgd.Config{ClipNorm: 1, SamplingProbability: 1, Steps: 1,
		NoiseMultiplier: 1, Optimizer: sgd.Adam(1e-3)}, net, ledger.New(b))
	made(err)
	var step sgd.Step
	for step, err = range trainer.Steps(context.Background(), data) {
		made(err)
	}
	return map[string]any{"sum": sum, "sum by value": *sum, "histogram": counts,
		"histogram by value": *counts, "partial": partial, "trainer": trainer, "step": step,
		"network": net}
}

type concealed struct{ value any }
type embedded struct{ any }

// secret matches 77123 in all bases in which a program prints numbers. address matches addresses in
// the same bases, since these may contain any digits.
var (
	secret  = regexp.MustCompile(`77123|7\.7123|12d43|12D43|226503|4796a18|40f2d43`)
	address = regexp.MustCompile(`(?i)(^|[^.\w])(0x|0o?)?[0-9a-f]{9,16}\b`)
)

// untimed leaves the time out of log lines, since it may contain any digits.
var untimed = &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

// TestWorkersPrintNoRecord checks that no verb and no encoding prints a record, in any nesting. It
// also checks that a planted leak is found.
func TestWorkersPrintNoRecord(t *testing.T) {
	all := workers(t)
	for name, v := range all {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && all[name+" by value"] == nil &&
			name != "network" { // of an unexported type
			all[name+" by value"] = p.Elem().Interface()
		}
	}
	all["planted"] = []float64{77123}
	for name, v := range all {
		found := 0
		see := func(how, text string) {
			if secret.MatchString(address.ReplaceAllString(text, "")) {
				if found++; name != "planted" {
					t.Errorf("%s, %s: %.200s", name, how, text)
				}
			}
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%X", "%s", "%q", "%g", "%f", "%e",
			"%t", "%b", "%o", "%c", "%U", "%p", "%w"} {
			for i, nested := range []any{v, &v, []any{v}, map[string]any{"a": v}, concealed{v},
				&concealed{v}, []concealed{{v}}, concealed{concealed{v}}, concealed{[]any{v}}, embedded{v},
				map[string]concealed{"a": {v}}} {
				see(fmt.Sprint(verb, " in nesting ", i), fmt.Sprintf(verb, nested))
			}
		}
		for _, nested := range []any{v, struct{ V any }{v}, []any{v}, map[string]any{"a": v}} {
			text, _ := json.Marshal(nested)
			see("JSON", string(text))
			var log, packed bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, untimed)).Info("x", "v", nested)
			slog.New(slog.NewTextHandler(&log, untimed)).Info("x", "v", nested)
			see("a log", log.String())
			_ = gob.NewEncoder(&packed).Encode(nested)
			see("gob", packed.String())
		}
		if name == "planted" && found < 60 {
			t.Errorf("a planted leak is found %d times, want at least 60", found)
		}
	}
}
