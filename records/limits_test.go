package records_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// These are the largest costs allowed for an input of at most 1 MiB with the default limits.
const (
	allowedBytes = 64 << 20
	allowedTime  = time.Second
)

// readers returns every reader of untrusted bytes, each with a schema that makes reading expensive.
func readers(t testing.TB) map[string]func(data []byte, limits ...records.Limits) error {
	t.Helper()
	first := func(limits []records.Limits) (l records.Limits) {
		if len(limits) > 0 {
			l = limits[0]
		}
		return l
	}
	wide, names := make([]records.Column, 1000), make([]string, 1000)
	for i := range wide {
		names[i] = "c" + strconv.Itoa(i)
		if wide[i] = records.Numeric(names[i], 0, 1); i%2 == 1 {
			wide[i] = records.Categorical(names[i], "a", "b")
		}
	}
	one := must(records.NewSchema(records.Numeric("x", 0, 1)))(t)
	table := must(records.NewSchema(wide...))(t)
	anyone := records.Sets(1<<30, 1<<30)
	vectors := records.Interval(784, 0, 1).WithLabels("a", "b")
	all := map[string]func(data []byte, limits ...records.Limits) error{
		"csv": func(data []byte, l ...records.Limits) error {
			return second(records.CSV{Limits: first(l)}.Read(bytes.NewReader(data), vectors))
		},
		"csv, one column": func(data []byte, l ...records.Limits) error {
			return second(records.CSV{Header: true, Limits: first(l)}.Read(bytes.NewReader(data),
				records.Binary(1)))
		},
		"frame": func(data []byte, l ...records.Limits) error {
			return second(records.CSV{Limits: first(l)}.ReadFrame(bytes.NewReader(data), table))
		},
		"frame, one column": func(data []byte, l ...records.Limits) error {
			return second(records.CSV{Limits: first(l)}.ReadFrame(bytes.NewReader(data), one))
		},
		"frame, header": func(data []byte, l ...records.Limits) error {
			return second(records.CSV{Header: true, Limits: first(l)}.ReadFrame(bytes.NewReader(data), one))
		},
		"json lines": func(data []byte, l ...records.Limits) error {
			return second(records.JSONLines{Limits: first(l)}.ReadFrame(bytes.NewReader(data), table))
		},
		"json lines, one column": func(data []byte, l ...records.Limits) error {
			return second(records.JSONLines{Limits: first(l)}.ReadFrame(bytes.NewReader(data), one))
		},
		"frames": func(data []byte, l ...records.Limits) error {
			for _, err := range (records.CSV{Limits: first(l)}).Stream(bytes.NewReader(data), table, 1000) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"lines": func(data []byte, l ...records.Limits) error {
			for _, err := range (records.CSV{Limits: first(l)}).Lines(bytes.NewReader(data)) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"visits": func(data []byte, l ...records.Limits) error {
			return second(records.Visits{Column: 1, Limits: first(l)}.Read(bytes.NewReader(data), anyone))
		},
		"visits, header": func(data []byte, l ...records.Limits) error {
			v := records.Visits{Header: true, User: "a", Item: "b", Limits: first(l)}
			return second(v.Read(bytes.NewReader(data), anyone))
		},
		"transactions": func(data []byte, l ...records.Limits) error {
			return second(records.ReadTransactions(bytes.NewReader(data), anyone, l...))
		},
		"transactions, narrow": func(data []byte, l ...records.Limits) error {
			return second(records.ReadTransactions(bytes.NewReader(data), records.Sets(10, 2), l...))
		},
		"stream of transactions": func(data []byte, l ...records.Limits) error {
			for _, err := range records.StreamTransactions(bytes.NewReader(data), anyone, 100_000, l...) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"idx": func(data []byte, l ...records.Limits) error {
			return second(records.ReadIDX(bytes.NewReader(data), nil, records.Image(28, 28), l...))
		},
		"idx labels": func(data []byte, l ...records.Limits) error {
			classes := records.Interval(1, 0, 1).WithLabels("a", "b")
			return second(records.ReadIDX(bytes.NewReader(data), bytes.NewReader(data), classes, l...))
		},
		"npy": func(data []byte, l ...records.Limits) error {
			return second(records.ReadNPY(bytes.NewReader(data), records.Interval(2, 0, 1), l...))
		},
		"npz": func(data []byte, l ...records.Limits) error {
			classes := records.Interval(2, 0, 1).WithLabels("a", "b")
			return second(records.ReadNPZ(bytes.NewReader(data), int64(len(data)), classes, l...))
		},
		"schema": func(data []byte, l ...records.Limits) error {
			return second(records.ReadSchema(bytes.NewReader(data), l...))
		},
		"schema json": func(data []byte, _ ...records.Limits) error {
			var s records.Schema
			return json.Unmarshal(data, &s)
		},
	}
	maps.Copy(all, oneColumn(t))
	return all
}

// bomb returns a gzip file that unpacks to about n bytes: start, followed by many copies of piece.
// The file repeats one gzip member, which unpacks to 1 MiB; the format allows this.
func bomb(start, piece string, n int) []byte {
	many := gz([]byte(strings.Repeat(piece, (1<<20)/len(piece))))
	return append(gz([]byte(start)), bytes.Repeat(many, n>>20)...)
}

// TestUnpackedBytesHaveALimit: what an input unpacks to is bounded by its size before unpacking,
// also where no line and no value is too many. Here 50 kB unpack to 48 MiB of comments.
func TestUnpackedBytesHaveALimit(t *testing.T) {
	schema, err := records.NewSchema(records.Flag("f", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = records.CSV{Comment: '#'}.ReadFrame(bytes.NewReader(bomb("", "# a\n", 48<<20)), schema)
	if over := new(records.LimitError); !errors.As(err, &over) {
		t.Errorf("got error %v, want a *records.LimitError", err)
	}
}

// hostileInputs returns inputs that an attacker might send, each of at most 1 MiB. They are made
// only once.
func hostileInputs(t testing.TB) map[string][]byte {
	t.Helper()
	makeInputs.Do(func() { inputs = makeHostileInputs(t) })
	return inputs
}

var (
	makeInputs sync.Once
	inputs     map[string][]byte
)

func makeHostileInputs(t testing.TB) map[string][]byte {
	t.Helper()
	const n = 1_000_000
	fill := func(start, piece string) []byte {
		return []byte(start + strings.Repeat(piece, (n-len(start))/len(piece)))
	}
	numbered := func(start, format string) []byte {
		text := []byte(start)
		for i := 0; len(text) < n-40; i++ {
			text = fmt.Appendf(text, format, 999_999_999-i)
		}
		return text
	}
	in := map[string][]byte{
		"nothing": nil, "a mark": []byte("\xef\xbb\xbf"),
		"a gzip head":         {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3},
		"numbers in one line": numbered("a,", "%d "), "numbers": numbered("", "%d\n"),
		"persons":    numbered("a,b\n", "%d,5\n"),
		"one person": numbered("a,b\n", "x,%d\n"), "one person, one line": numbered("a,b\nx,", "%d "),
		"names": numbered("", "c%d,"), "short persons": base36(n),
		"huge idx":  idx([]uint32{1<<31 - 1, 28, 28}, make([]byte, 1000)...),
		"huge npy":  npy("<f8", "(2000000000, 2)", make([]byte, 1000)...),
		"many axes": npy("<f8", "("+strings.Repeat("1,", 30_000)+")", make([]byte, 1000)...),
		"columns":   fill(`{"kind":"table","columns":[{}`, `,{}`),
		"columns 2": fill(`{"kind":"table","columns":[`,
			`{"name":"a","type":"numeric","lo":1,"hi":0},`),
		"levels": append(
			fill(`{"kind":"table","columns":[{"name":"`+strings.Repeat("n",
				100_000)+`","type":"categorical","levels":["a"`, `,"a"`), "]}]}"...),
		"classes": append(fill(`{"kind":"binary","dim":3,"classes":["a"`, `,""`), "]}"...),
		"class names": append(numbered(`{"kind":"binary","dim":3,"classes":["a"`, `,"%x"`),
			"]}"...),
		"aliases": append(
			numbered(`{"kind":"table","columns":[{"name":"a","type":"flag","levels":["n","y"],"aliases":{"b":"y"`, `,"%x":"y"`), "}}]}"...),
		"members": bytes.Repeat(gz(nil), n/len(gz(nil))),
	}
	for name, piece := range map[string]string{"empty lines": "\n", "letters": "x\n", "digits": "1\n",
		"one line": "x", "commas": ",", "rows of commas": ",,,,,,,\n",
		"quotes": `"`, "quoted": `"a",`, "open quotes": "\"\n", "open fields": `"a,`,
		"doubled quotes": `""`, "spaces": " ", "blank lines": " \n",
		"thousand fields": strings.Repeat(",", 999) + "\n", "brackets": "[", "braces": `{"a":`,
		"returns": "\r", "zeros": "\x00", "ones": "1 "} {
		in[name] = fill("", piece)
		in["head, "+name] = fill("x,a,b\n", piece)
		in["bomb of "+name] = bomb("", piece, 24<<20)
		in["bomb of head, "+name] = bomb("x,a,b\n", piece, 16<<20)
		in["bomb of idx and "+name] = bomb(string(idx([]uint32{1 << 28})), piece, 16<<20)
		in["bomb of images and "+name] = bomb(string(idx([]uint32{1 << 24, 28, 28})), piece, 16<<20)
	}
	x, y := npy("|u1", "(8000000, 2)", make([]byte, 16e6)...),
		npy("|u1", "(12000000,)", make([]byte, 12e6)...)
	for name, piece := range map[string]string{"ones": "1 ", "letters": "x\n", "digits": "1\n"} {
		in["packed "+name] = gz([]byte(strings.Repeat(piece, 1<<16)))
	}
	in["npz bomb"] = archive(t, map[string][]byte{"x.npy": x, "y.npy": y})
	small := npy("<f4", "(1, 2)", make([]byte, 8)...)
	in["npz bomb of labels"] = archive(t, map[string][]byte{"x.npy": small, "y.npy": y})
	in["npz that lies"] = lyingArchive(t, x)
	in["zip of many"] = crowdedArchive(t, n)
	for name, data := range in {
		if len(data) > 1<<20 {
			t.Fatalf("%s has %d bytes", name, len(data))
		}
	}
	return in
}

// base36 returns about n bytes of lines, each with a different short name.
func base36(n int) []byte {
	var text []byte
	for i := 0; len(text) < n-10; i++ {
		text = append(strconv.AppendInt(text, int64(i), 36), '\n')
	}
	return text
}

// lyingArchive returns a zip file that declares a smaller unpacked size than the true one.
func lyingArchive(t testing.TB, x []byte) []byte {
	var packed, out bytes.Buffer
	f, _ := flate.NewWriter(&packed, flate.BestCompression)
	f.Write(x)
	f.Close()
	w := zip.NewWriter(&out)
	m := must(w.CreateRaw(&zip.FileHeader{Name: "x.npy", Method: zip.Deflate,
		CRC32:            crc32.ChecksumIEEE(x),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(x)) & 0xff}))(t)
	m.Write(packed.Bytes())
	w.Close()
	return out.Bytes()
}

// crowdedArchive returns a zip file of about n bytes at most, with very many empty members.
func crowdedArchive(t testing.TB, n int) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for out.Len() < n/3 {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: "a"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
	}
	w.Close()
	return out.Bytes()
}

// cost returns the memory that a call allocates, including memory that is freed again, and the
// processor time that the call takes.
func cost(f func()) (uint64, time.Duration) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := processorTime()
	f()
	took := processorTime() - start
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// costly lists, for some of the readers, the input that costs most. It takes up to three quarters
// of the allowed memory and up to a fifth of the allowed time.
var costly = map[string][]string{
	"visits":                 {"persons"},
	"lines":                  {"bomb of empty lines"},
	"frame":                  {"bomb of head, rows of commas"},
	"frame, one column":      {"bomb of digits"},
	"json lines":             {"bomb of braces"},
	"json lines, one column": {"bomb of blank lines"},
	"transactions, narrow":   {"bomb of ones"},
	"csv, one column":        {"bomb of empty lines"},
	"stream of transactions": {"bomb of empty lines"},
	"schema":                 {"levels", "aliases", "brackets"},
	"npz":                    {"npz bomb", "npz that lies", "zip of many"},
}

// TestNoSmallInputCostsMuch gives hostile inputs to the readers. It tests the pairs of a reader and
// an input that are listed in costly, and an eightieth of the other pairs. With the flag
// -every-text, it tests all pairs. Bombs that begin like an IDX file are given only to the readers
// of IDX files.
func TestNoSmallInputCostsMuch(t *testing.T) {
	in, all := hostileInputs(t), readers(t)
	limit := allowedTime
	if testing.Short() {
		limit *= 5 // short runs use the race detector, which is slow
	}
	for name, list := range costly {
		for _, what := range list {
			if all[name] == nil || in[what] == nil {
				t.Errorf("there is no reader %q or no input %q", name, what)
			}
		}
	}
	worst, slowest, pairs := uint64(0), time.Duration(0), 0
	for i, name := range slices.Sorted(maps.Keys(all)) {
		for j, what := range slices.Sorted(maps.Keys(in)) {
			binary := strings.HasPrefix(what, "bomb of i") && !strings.HasPrefix(name, "idx")
			if binary {
				continue
			}
			if !*everyText && (i+j)%160 != 0 && !slices.Contains(costly[name], what) {
				continue
			}
			var err error
			bytes, took := cost(func() { err = all[name](in[what]) })
			for try := 0; try < 2 && took > limit; try++ {
				_, again := cost(func() { err = all[name](in[what]) })
				took = min(took, again)
			}
			worst, slowest, pairs = max(worst, bytes), max(slowest, took), pairs+1
			if bytes > allowedBytes || took > limit {
				t.Errorf("reader %q, input %q of %d bytes: used %d MB and %v, which is too much; got: %.99v",
					name, what, len(in[what]), bytes>>20, took, err)
			}
			if err != nil && strings.Contains(err.Error(), "999999") {
				t.Errorf("reader %s, input %s: the error message contains a value: %v", name, what, err)
			}
		}
	}
	t.Logf("%d pairs, at most %d MB and %v", pairs, worst>>20, slowest)
}

// TestLimitsAreNamedAndCanBeRaised: the error for an input that exceeds a default limit names the
// limit. With higher limits, the same input exceeds no limit. A reader also enforces limits that
// the caller sets below the defaults.
func TestLimitsAreNamedAndCanBeRaised(t *testing.T) {
	in, all := hostileInputs(t), readers(t)
	for _, c := range []struct {
		reader, input, limit string
		low, raised          records.Limits // the zero Limits are the defaults
	}{
		{"transactions, narrow", "packed ones", "UnpackedBytes", records.Limits{UnpackedBytes: 1 << 16},
			records.Limits{}},
		{"visits", "packed letters", "UnpackedBytes", records.Limits{UnpackedBytes: 1 << 16},
			records.Limits{}},
		{"frame, one column", "packed digits", "Values", records.Limits{Values: 1 << 9},
			records.Limits{}},
		{"csv, one column", "packed digits", "Values", records.Limits{Values: 1 << 9}, records.Limits{}},
		{"frame, header", "names", "Fields", records.Limits{}, records.Limits{Fields: 1 << 30}},
		{"lines", "commas", "Fields", records.Limits{}, records.Limits{Fields: 1 << 30}},
		{"visits, header", "commas", "Fields", records.Limits{}, records.Limits{Fields: 1 << 30}},
		{"schema", "brackets", "Depth", records.Limits{}, records.Limits{Depth: 1 << 30}},
		{"schema", "columns", "Fields", records.Limits{}, records.Limits{Fields: 1 << 30}},
		{"npz", "npz bomb", "Values", records.Limits{},
			records.Limits{UnpackedBytes: 1 << 30, Values: 1 << 40}},
	} {
		var over *records.LimitError
		err := all[c.reader](in[c.input], c.low)
		if !errors.As(err, &over) || !errors.Is(err, records.ErrFormat) || over.Limit != c.limit ||
			!strings.Contains(err.Error(), "Limits."+c.limit) {
			t.Errorf("reader %s, input %s: got error %v, want a LimitError", c.reader, c.input, err)
		}
		if err := all[c.reader](in[c.input], c.raised); errors.As(err, &over) {
			t.Errorf("reader %s, input %s: refused even with higher limits: %v", c.reader, c.input, err)
		}
	}
	small := records.Limits{DocumentBytes: 10, Depth: 1, Fields: 1, UnpackedBytes: 10, Values: 1}
	var over *records.LimitError
	for name, data := range map[string][]byte{"schema": []byte(`{"kind":"binary","dim":3}`),
		"frame, header": []byte("x,y\n"),
		"lines":         gz([]byte("1234567890,2\n")), "transactions": []byte("1 2\n"),
		"npy":        npy("<f4", "(1, 2)", make([]byte, 8)...),
		"idx labels": idx([]uint32{2}, 0, 0), "visits, header": []byte("a,b\nx,1\n")} {
		if err := all[name](data, small); !errors.As(err, &over) {
			t.Errorf("reader %s, input above a small limit: got error %v, want a LimitError", name, err)
		}
		if err := all[name](data); err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
		var bad *param.Error
		if err := all[name](data, records.Limits{Values: -1}); !errors.As(err, &bad) ||
			!strings.Contains(err.Error(), "Limits.Values") {
			t.Errorf("%s with a negative limit: got error %v, want *param.Error", name, err)
		}
	}
}

// TestALineWithoutEndIsPassedOver: a reader keeps no more of a long line than the limit allows.
func TestALineWithoutEndIsPassedOver(t *testing.T) {
	var parts []io.Reader
	for text := strings.Repeat("1 ", 1<<19); len(parts) < 64; {
		parts = append(parts, strings.NewReader(text))
	}
	var table *records.SetTable
	got, _ := cost(func() {
		table = must(records.ReadTransactions(io.MultiReader(parts...), records.Sets(9, 9)))(t)
	})
	if table.Len() != 1 || len(table.Items(0)) != 0 || records.Check(table) == nil || got > 8<<20 {
		t.Errorf("got %d records and %d MB, want one invalid record and at most 8 MB",
			table.Len(), got>>20)
	}
}

// TestPlainInputIsNotUnpacked: with Plain, input that begins with a gzip file is read as text.
// Without Plain, the reader unpacks the input only if it begins with a valid gzip header.
func TestPlainInputIsNotUnpacked(t *testing.T) {
	text := append(gz([]byte("5\n")), "\n1 2\n"...)
	if _, err := records.ReadTransactions(bytes.NewReader(text), records.Sets(9, 9)); err == nil {
		t.Error("without Plain, text after a gzip file is accepted")
	}
	table := must(records.ReadTransactions(bytes.NewReader(text), records.Sets(9, 9),
		records.Limits{Plain: true}))(t)
	if got := table.Items(table.Len() - 1); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("the last line is %v", got)
	}
	for _, head := range []string{"\x1f\x8b", "\x1f\x8b\x08",
		"\x1f\x8b\x08\xff\x00\x00\x00\x00\x00\x00", "\x1f\x8b\x08\x00aaaa a"} {
		table := must(records.ReadTransactions(strings.NewReader(head+"\n1 2\n"), records.Sets(9, 9)))(t)
		if table.Len() != 2 || len(table.Items(1)) != 2 {
			t.Errorf("%q: got %d records, want 2", head, table.Len())
		}
	}
}

// FuzzCost passes inputs of at most 1 MiB to one reader, which the fuzzer chooses. An input
// consists of the argument start and many copies of the argument piece. It may be compressed.
func FuzzCost(f *testing.F) {
	all := readers(f)
	for i := 0; i < len(all); i += 3 {
		for k, seed := range []string{"1\n", "a,1\n", "\"", "{\"kind\":\"table\",\"columns\":[", "{}\n",
			"\x00\x00\x08\x01", "x.npy"} {
			if k == i%7 {
				f.Add(byte(i), []byte("a,b\n"), []byte(seed), i%2 == 0)
			}
		}
	}
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		if strings.HasSuffix(name, "one column") {
			f.Add(byte(i), []byte("a\n"), []byte([]string{"0a\n", "9e999\n"}[i%2]), true)
		}
	}
	f.Fuzz(func(t *testing.T, reader byte, start, piece []byte, packed bool) {
		if len(start) > 1<<16 || len(piece) == 0 || len(piece) > 1<<16 {
			return
		}
		data := append(bytes.Clone(start), bytes.Repeat(piece, (1<<20-len(start))/len(piece))...)
		if packed {
			data = append(gz(start), bytes.Repeat(gz(bytes.Repeat(piece, 1+(1<<18)/len(piece))), 40)...)
		}
		if len(data) > 1<<20 {
			return
		}
		name := names[int(reader)%len(names)]
		got, _ := cost(func() { _ = all[name](data) })
		if got > allowedBytes {
			t.Fatalf("reader %s allocates %d MB", name, got>>20)
		}
	})
}

// TestRepeatedVisitsAreFree: the limit of values counts the items that are kept of a person, not
// how often they were visited.
func TestRepeatedVisitsAreFree(t *testing.T) {
	for _, repeated := range []bool{true, false} {
		var text strings.Builder
		for i := range 5000 {
			if repeated {
				i %= 7
			}
			fmt.Fprintf(&text, "a,%d\n", i)
		}
		d, err := records.Visits{Column: 1, Limits: records.Limits{Values: 200}}.Read(
			strings.NewReader(text.String()), records.Sets(5000, 9))
		limit := (*records.LimitError)(nil)
		if repeated && (err != nil || len(d.Items(0)) != 7) || !repeated && !errors.As(err, &limit) {
			t.Errorf("repeated %t: %v", repeated, err)
		}
	}
}

// TestTakeLeavesItsList: no table changes the list of the rows that are taken from it.
func TestTakeLeavesItsList(t *testing.T) {
	people, err := records.Visits{Column: 1}.Read(strings.NewReader("a,1\nb,2\nc,3\n"),
		records.Sets(9, 3))
	if err != nil {
		t.Fatal(err)
	}
	table, err := records.FromFlat(records.Binary(1), []float32{0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := records.NewSchema(records.Integer("x", 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	frame, err := records.FromValues(s, []any{1}, []any{2}, []any{3})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]int32{{2, 0, 1}, {2, 2, 0}} {
		rows := slices.Clone(list)
		for _, n := range []int{people.Take(rows).Len(), table.Take(rows).Len(), frame.Take(rows).Len()} {
			if n != 3 || !slices.Equal(rows, list) {
				t.Errorf("the list %v has become %v", list, rows)
			}
		}
		if got := people.Take(rows).Items(0); !slices.Equal(got, []uint32{3}) {
			t.Errorf("the first of the rows %v has the items %v", list, got)
		}
	}
}
