package records

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// momentLayouts lists the forms of moments as layouts of package time.
var momentLayouts = []string{time.RFC3339Nano, time.DateOnly, "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999Z07", "2006-01-02T15:04:05.999999999Z07", "2006-01-02 15:04",
	"2006-01-02T15:04"}

func sameMoment(t *testing.T, text string) (read bool) {
	t.Helper()
	got, ok := parseMoment(text)
	for _, layout := range momentLayouts {
		want, err := time.Parse(layout, text)
		if err != nil || len(text) > 48 {
			continue
		}
		if !ok || !got.Equal(want) {
			t.Fatalf("%q is %v (%t), want %v", text, got, ok, want.UTC())
		}
		return true
	}
	if ok {
		t.Fatalf("%q is read as %v", text, got)
	}
	return false
}

func sameLength(t *testing.T, text string) (read bool) {
	t.Helper()
	got, ok := parseLength(text)
	want, err := time.ParseDuration(text)
	if ok != (err == nil) || ok && got != want {
		t.Fatalf("%q is %v (%t), want %v (%v)", text, got, ok, want, err)
	}
	return ok
}

func sameWhole(t *testing.T, text string) (read bool) {
	t.Helper()
	got, ok := wholeNumber(text)
	number, spelled := new(big.Int).SetString(text, 10)
	if ok != spelled {
		t.Fatalf("%q is read as %d (%t)", text, got, ok)
	}
	if !spelled {
		return false
	}
	want := number.Int64()
	if !number.IsInt64() {
		want = math.MaxInt64
		if number.Sign() < 0 {
			want = math.MinInt64
		}
	}
	if got != want {
		t.Fatalf("%q is %d, want %d", text, got, want)
	}
	return true
}

func sameEscapes(t *testing.T, text string) (read bool) {
	t.Helper()
	quoted := []byte(`"` + text + `"`)
	var want string
	if json.Unmarshal(quoted, &want) != nil {
		return false
	}
	if got := unescaped(quoted[1 : len(quoted)-1]); got != want {
		t.Fatalf("%s is %q, want %q", quoted, got, want)
	}
	return true
}

func sameJSON(t *testing.T, text string) (read bool) {
	t.Helper()
	if strings.Contains(text, "\n") { // a line has no line feed
		return false
	}
	got, want := validJSON([]byte(text)), json.Valid([]byte(text))
	if got != want {
		t.Fatalf("%q: validJSON returns %t, want %t", text, got, want)
	}
	return want
}

var textForms = []struct {
	name   string
	same   func(t *testing.T, text string) bool
	pieces string // characters that are put into texts
	sound  []string
}{
	{"moments", sameMoment, "0123459-:.,TZ+ ", []string{"2024-02-29", "2023-12-31T23:59:59Z",
		"2024-02-29T1:02:03.123456789+05:30", "2024-02-29 24:00", "0000-01-01T00:00",
		"2024-01-01 00:00:00,5-24:60", "9999-12-31 23:59:59.99999999999999+14", "2000-02-29 01:02:03Z"}},
	{"lengths", sameLength, "0123456789.-+hmsnu\u00b5\u03bc", []string{"1h30m", "-2.5h", "0", "+.5s",
		"1.s",
		"2562047h47m16.854775807s", "-2562047h47m16.854775808s", "9223372036854775808ns",
		"1us2\u00b5s3\u03bcs",
		"9223372036854775807ns1ns", "0.9223372036854775808h", "0.30000000000000000000000000001h"}},
	{"whole numbers", sameWhole, "0123456789+-_.", []string{"0", "-9223372036854775808",
		"9223372036854775807", "9223372036854775808", "-9223372036854775809",
		"99999999999999999999999999", "+7", "0000000000000000000000000000001"}},
	{"escapes", sameEscapes, "\\u\"/bfnrtdD8cC0\xff\u00e9", []string{`\u0041`, `\ud83d\ude00`,
		`\ud83dx`, `\ude00\ud83d`, `a\n\t\"\\\/é`, "\\b\xff\xc3(", `\uD83D\uDE00\uABCD`}},
	{"JSON", sameJSON, "{}[],:\"\\u0a9.-+eEtfn \t\r", []string{`{"a":1,"b":[true,false,null,{}]}`,
		`{"a":-0.5e-7}`, ` [ ] `, `{"\u00e9\n":"x"}`, `[[[1,2],[]],{"a":{"b":[]}}]`, `"\\"`, `-1E+2`}},
}

// TestTextsAreReadAsPackagesDo: moments, lengths, whole numbers and escapes are read as by packages
// time, big and json, and rejected if these packages reject them.
func TestTextsAreReadAsPackagesDo(t *testing.T) {
	for _, form := range textForms {
		rng := rand.New(rand.NewPCG(3, 4))
		read, pieces := 0, []rune(form.pieces)
		for i := range 30_000 {
			text := []byte(form.sound[i%len(form.sound)])
			for range rng.IntN(3) {
				at := rng.IntN(len(text) + 1)
				to := min(len(text), at+rng.IntN(3))
				piece := string(pieces[rng.IntN(len(pieces))])
				if pieces[0] == '\\' && rng.IntN(8) == 0 {
					piece = "\xff"
				}
				text = append(text[:at:at], append([]byte(piece), text[to:]...)...)
			}
			if form.same(t, string(text)) {
				read++
			}
		}
		if read < 3000 {
			t.Errorf("%s: %d of 30,000 texts are read, want at least 3000", form.name, read)
		}
	}
}

// FuzzTexts searches for a text that is read differently from packages time, big and json.
func FuzzTexts(f *testing.F) {
	for _, form := range textForms {
		for _, text := range form.sound {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range textForms {
			form.same(t, text)
		}
	})
}

// TestJSONOfAnyDepth: the largest depth of nesting is the same as in package json.
func TestJSONOfAnyDepth(t *testing.T) {
	for _, depth := range []int{9_999, 10_000, 10_001, 400_000} {
		sameJSON(t, strings.Repeat("[", depth)+strings.Repeat("]", depth))
		sameJSON(t, strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
		sameJSON(t, strings.Repeat("[", depth)+"1"+strings.Repeat("]", depth))
	}
}

// TestTextsThatAreWrongTakeNoMemory: parsing a text that is wrong or unusual allocates no memory.
func TestTextsThatAreWrongTakeNoMemory(t *testing.T) {
	for _, text := range []string{"2020-13-45", "2024-02-29T25:00:00Z", "2024-02-29T01:02:03+25",
		"2024-02-29 01:02:03.5+05:30", "1hh", "9999999999h", "1d", "0a", "99999999999999999999"} {
		if n := testing.AllocsPerRun(100, func() {
			parseMoment(text)
			parseLength(text)
			wholeNumber(text)
			validJSON([]byte(text))
		}); n != 0 {
			t.Errorf("%q takes %v allocations", text, n)
		}
	}
}
