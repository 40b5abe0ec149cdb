package records_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestErrorsCarryNoCell: no reader's error repeats the content of a malformed line.
func TestErrorsCarryNoCell(t *testing.T) {
	table := must(records.NewSchema(records.Numeric("n", 0, 9), records.Categorical("c", "x", "y"),
		records.Label("l", "u", "v")))(t)
	vectors, sets := records.Interval(2, 0, 1).WithLabels("a", "b"), records.Sets(9, 3)
	failed := 0
	check := func(name, text string, err error) {
		if err == nil {
			return
		}
		failed++
		if strings.Contains(err.Error(), "47114") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s of %.60q: the error repeats the cell: %v", name, text, err)
		}
	}
	second := func(_ any, err error) error { return err }
	for _, cell := range []string{"4711471147e999", "\"SECRET", "{\"n\":SECRET}", "SECRET\x00",
		"[47114"} {
		for _, line := range []string{cell, cell + "," + cell, "1,x,u," + cell, cell + ",x,u",
			"1," + cell + ",u", "1 " + cell, cell + "\n" + cell + ",,,,"} {
			for _, head := range []string{"", "n,c,l\n", "user,item\n"} {
				text := head + line + "\n1,x,u\n"
				r := func() *strings.Reader { return strings.NewReader(text) }
				var packed bytes.Buffer
				z := gzip.NewWriter(&packed)
				_, _ = z.Write([]byte(text))
				_ = z.Close()
				cut := packed.Bytes()[:packed.Len()-3]
				for _, c := range []records.CSV{{}, {Header: true}} {
					check("frame", text, second(c.ReadFrame(r(), table)))
					check("packed frame", text, second(c.ReadFrame(bytes.NewReader(cut), table)))
					check("csv", text, second(c.Read(r(), vectors)))
					check("persons", text, second(c.ReadPersons(r(), table, "user", 2)))
				}
				check("visits", text, second(records.Visits{Header: true, User: "user",
					Item: "item"}.Read(r(), sets)))
				check("objects", text, second(records.JSONLines{}.ReadFrame(r(), table)))
				check("transactions", text, second(records.ReadTransactions(r(), sets)))
				check("idx", text, second(records.ReadIDX(r(), nil, records.Image(2, 2))))
				check("npy", text, second(records.ReadNPY(r(), vectors)))
			}
		}
	}
	if failed < 100 {
		t.Errorf("got only %d errors, want at least 100 for the test to mean anything", failed)
	}
}
