package records_test

import (
	"bytes"
	"errors"
	"flag"
	"maps"
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

var everyText = flag.Bool("every-text", false, "every pair of a reader and a hostile input, texts "+
	"of two characters, and a million decoded rows")

// oneColumn returns readers of tables, one for each format and each kind of column that parses
// texts.
func oneColumn(t testing.TB) map[string]func(data []byte, limits ...records.Limits) error {
	t.Helper()
	list := map[string]func([]byte, ...records.Limits) error{}
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]records.Column{
		"moments":     records.Datetime("x", from, from.AddDate(9, 0, 0), time.Second),
		"lengths":     records.Duration("x", -time.Hour, time.Hour, time.Millisecond),
		"wide":        records.Integer("x", 0, math.MaxInt>>3),
		"narrow":      records.Integer("x", 0, 9),
		"hashed":      records.Hashed("x", 9, "aspirin"),
		"identifiers": records.Identifier("x", records.UUID()),
		"levels":      records.Categorical("x", "a", "1"),
		"flags":       records.Flag("x", "no", "yes"),
	} {
		s := must(records.NewSchema(c, records.Numeric("y", 0, 1)))(t)
		csv := records.CSV{FirstRecord: true, Names: []string{"x", "y"}}
		list["frame, "+name] = func(data []byte, l ...records.Limits) error {
			if len(l) > 0 {
				csv.Limits = l[0]
			}
			return second(csv.ReadFrame(bytes.NewReader(data), s))
		}
		list["json lines, "+name] = func(data []byte, l ...records.Limits) error {
			var in records.JSONLines
			if len(l) > 0 {
				in.Limits = l[0]
			}
			return second(in.ReadFrame(bytes.NewReader(data), s))
		}
	}
	return list
}

// cellTexts lists texts for which a parser may take long or allocate an error.
var cellTexts = []string{"0a", "a0", "x", "1e999", "-1e999", "1e-999", "0x1p9", "0x1p-1074", "nan",
	"inf", "-Infinity", "+", "-", ".", "e", "1e", "1e+", "1_0", "1.2.3", "--1", "\u0661",
	"\xff", "\x00", "0.1000000000000000055511151231257827021181583404541015625",
	"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649", "5e-324",
	"9223372036854775808", "-9223372036854775809", "18446744073709551616", "4294967296",
	strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "2020-13-45", "2024-02-29",
	"2024-02-30T01:02:03Z", "2024-02-29T25:00:00Z", "2024-02-29 01:02:03.123456789+99:99",
	"2024-02-29T01:02:03.12345678901234567890", "2024-aa-bb", "2024-02-29T01:02:03 America", "1h",
	"1hh", "1h30m", "-1h-", "1.5h2", "9999999999h", "1d", "PT1H", "bucket-3", "bucket-99999",
	"bucket-" + strings.Repeat("9", 40), "null", "true", "[]", "{}",
	"\"", "\"\"", "\"a\"", "\"a\"\"b\"",
	"a\"b", "\\u0041", "\\ud800", "\\", "#", ";", "\t", "'", "=1", "1 2", "-1 -2", "x y",
	"00000000-0000-0000-0000-000000000000"}

// linesOf returns lines for a reader that contain the cell.
func linesOf(reader, cell string) []string {
	if strings.HasPrefix(reader, "json lines") {
		return []string{`{"x":` + cell + "}\n", `{"x":"` + cell + "\"}\n", `{"` + cell + `":1}` + "\n"}
	}
	return []string{cell + "\n", cell + ",1\n", "1," + cell + "\n", cell + ","}
}

// allocatedBytes returns the number of bytes that the program has allocated so far.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestNoCellCostsMuch gives readers of texts short inputs that repeat one line. It tests every
// 197th pair of a reader and a line, and every pair if the flag -every-text is set. If the
// extrapolated cost of an input of the largest size allowed is too high, the test reads an input
// of that size.
func TestNoCellCostsMuch(t *testing.T) {
	all := readers(t)
	texts := cellTexts
	if *everyText {
		texts = append(slices.Clone(texts), shortTexts("019aex+-._,;\":\\ \t{[")...)
	}
	const short, times = 1 << 15, 8 << 20 / (1 << 15)
	number, inputs, again := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "npy" || name == "npz" || strings.HasPrefix(name, "idx") {
			continue
		}
		empty, _ := quickly(func() { _ = all[name]([]byte("x\n")) })
		for _, cell := range texts {
			for _, line := range linesOf(name, cell) {
				if number++; !*everyText && number%197 != 0 {
					continue
				}
				inputs++
				data := []byte(strings.Repeat(line, 1+short/len(line)))
				var err error
				var over *records.LimitError
				bytes, took := quickly(func() { err = all[name](data) })
				if errors.As(err, &over) && bytes <= allowedBytes && took <= allowedTime {
					continue // a longer input exceeds the limit at the same place
				}
				for try := 0; try < 4 && took*times > allowedTime; try++ {
					_, more := quickly(func() { _ = all[name](data) })
					took = min(took, more)
				}
				if (bytes-min(bytes, empty))*times+empty <= allowedBytes && took*times <= allowedTime {
					continue
				}
				again++
				costOfAll(t, name, line, all[name])
			}
		}
	}
	t.Logf("%d inputs; %d of them were also read at full size", inputs, again)
}

func quickly(f func()) (uint64, time.Duration) {
	before, start := allocatedBytes(), processorTime()
	f()
	return allocatedBytes() - before, processorTime() - start
}

// costOfAll reads a text of 8 MB, which repeats one line. An input of 1 MB may unpack to no larger
// text.
func costOfAll(t *testing.T, name, line string, read func([]byte, ...records.Limits) error) {
	t.Helper()
	part := gz([]byte(strings.Repeat(line, (1<<20)/len(line))))
	data := bytes.Repeat(part, 8)
	var err error
	got, took := cost(func() { err = read(data) })
	for try := 0; try < 2 && took > allowedTime; try++ {
		_, more := cost(func() { err = read(data) })
		took = min(took, more)
	}
	if got > allowedBytes || took > allowedTime {
		t.Errorf("%s of %.60q costs too much: %d MB, %v (error %.60v)", name, line, got>>20, took, err)
	}
}

// shortTexts returns all texts of one or two characters of the alphabet.
func shortTexts(alphabet string) (list []string) {
	last := []string{""}
	for range 2 {
		var next []string
		for _, text := range last {
			for _, c := range alphabet {
				next = append(next, text+string(c))
			}
		}
		list, last = append(list, next...), next
	}
	return list
}
