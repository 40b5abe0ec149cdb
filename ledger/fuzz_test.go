package ledger

import (
	"encoding/json"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

func FuzzUnmarshalLedger(f *testing.F) {
	l := New(accountant.Budget{Epsilon: 20, Delta: 1e-5})
	for kind, x := range everyEvent(f) {
		if x.r == accountant.AddOrRemoveOne {
			if _, err := l.Reserve(kind, x.e, 1); err != nil {
				f.Fatal(err)
			}
		}
	}
	data, err := json.Marshal(l)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(
		`{"version":1,"budget":{"epsilon":1,"delta":1e-5,"relation":"replace_one"},"entries":[{"purpose":"a","event":{"kind":"sampled_sum","probability":0.1,"noise_multiplier":1},"reserved":3,"spent":1}],"parts":[{"purpose":"p","ledgers":[]}]}`,
	))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Unmarshal(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(again)
		if err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		if len(back.Entries()) != len(l.Entries()) {
			t.Fatal("entries were lost")
		}
	})
}
