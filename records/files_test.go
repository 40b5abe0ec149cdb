package records_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func gz(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}

// idx returns a file in the idx format with the given axes and body.
func idx(sizes []uint32, body ...byte) []byte {
	out := []byte{0, 0, 8, byte(len(sizes))}
	for _, s := range sizes {
		out = binary.BigEndian.AppendUint32(out, s)
	}
	return append(out, body...)
}

func labelledImages() records.Schema { return records.Image(2, 2).WithLabels("a", "b", "c") }

func TestIDXRoundTrip(t *testing.T) {
	pixels := []byte{0, 1, 2, 255, 128, 127, 3, 9, 0, 0, 0, 0}
	table := must(records.FromBytes(labelledImages(), pixels, 2, 0, 1))(t)
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(images.Bytes(), idx([]uint32{3, 2, 2}, pixels...)) ||
		!bytes.Equal(labels.Bytes(), idx([]uint32{3}, 2, 0, 1)) {
		t.Error("the files are not in the idx format")
	}
	for name, wrap := range map[string]func([]byte) []byte{"plain": bytes.Clone, "gzip": gz} {
		back, err := records.ReadIDX(bytes.NewReader(wrap(images.Bytes())),
			bytes.NewReader(wrap(labels.Bytes())), labelledImages())
		if err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		want, _ := table.Flat()
		if got, _ := back.Flat(); !slices.Equal(got, want) ||
			!slices.Equal(back.Labels(), table.Labels()) {
			t.Errorf("%s: wrongly read back as %v with labels %v", name, got, back.Labels())
		}
	}
}

func TestIDXFiles(t *testing.T) {
	dir := t.TempDir()
	images, labels := filepath.Join(dir, "images.gz"), filepath.Join(dir, "labels")
	save(t, images, gz(idx([]uint32{2, 2, 2}, 0, 0, 0, 255, 1, 1, 1, 1)))
	save(t, labels, idx([]uint32{2}, 1, 9))
	table, err := records.OpenIDX(images, labels, labelledImages())
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 2 || table.Label(0) != 1 || table.Label(1) != 0 || records.Check(table) == nil {
		t.Errorf("got %d records with labels %v, want labels 1 and 0 and an invalid record",
			table.Len(), table.Labels())
	}
	if table, err = records.OpenIDX(images, "", records.BinaryImage(2, 2)); err != nil ||
		table.Row(nil, 0)[3] != 1 {
		t.Errorf("without labels: got error %v, or wrong pixels", err)
	}
	_, err = records.OpenIDX(filepath.Join(dir, "none"), labels, labelledImages())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMalformedIDX(t *testing.T) {
	good := idx([]uint32{2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8)
	huge := uint32(1<<32 - 1)
	for name, data := range map[string][]byte{
		"empty":            {},
		"text":             []byte("hello, this is no idx file"),
		"no axes":          idx(nil),
		"floats":           append([]byte{0, 0, 13}, good[3:]...),
		"another shape":    idx([]uint32{2, 4, 1}, 1, 2, 3, 4, 5, 6, 7, 8),
		"another size":     idx([]uint32{1, 2, 4}, 1, 2, 3, 4, 5, 6, 7, 8),
		"overflowing size": idx([]uint32{1, huge, huge, huge, 4}, 1, 2, 3, 4),
		"huge count":       idx([]uint32{1<<31 - 1, 2, 2}, 1, 2, 3, 4),
		"too many":         idx([]uint32{huge, 2, 2}, 1, 2, 3, 4),
		"cut header":       good[:9],
		"cut body":         good[:len(good)-1],
		"longer":           append(slices.Clone(good), 0),
		"cut gzip":         gz(good)[:len(gz(good))-9],
		"gzip header":      {0x1f, 0x8b, 8},
		"spoilt gzip":      spoil(gz(good)),
	} {
		_, err := records.ReadIDX(bytes.NewReader(data), nil, records.Image(2, 2))
		if !errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
	labels := idx([]uint32{3}, 0, 1, 2)
	if _, err := records.ReadIDX(bytes.NewReader(good), bytes.NewReader(labels),
		labelledImages()); !errors.Is(err, records.ErrFormat) {
		t.Errorf("files of different lengths: got error %v, want ErrFormat", err)
	}
	var shape *param.Error
	if _, err := records.ReadIDX(bytes.NewReader(good), nil,
		labelledImages()); !errors.As(err, &shape) {
		t.Errorf("missing labels: got error %v, want *param.Error", err)
	}
	if _, err := records.ReadIDX(bytes.NewReader(good), bytes.NewReader(labels),
		records.Image(2, 2)); !errors.As(err, &shape) {
		t.Errorf("unwanted labels: got error %v, want *param.Error", err)
	}
}

func spoil(data []byte) []byte {
	data[len(data)-6] ^= 0x55 // inside the checksum
	return data
}

// TestHeadersAllocateNothing reads headers that declare at least eight gigabytes.
func TestHeadersAllocateNothing(t *testing.T) {
	header := []byte(
		"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000, " +
			"4), }   ")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, first := records.ReadIDX(bytes.NewReader(idx([]uint32{2000000000, 2, 2}, make([]byte, 100)...)),
		nil, records.Image(2, 2))
	_, second := records.ReadNPY(bytes.NewReader(header), records.Binary(4))
	runtime.ReadMemStats(&after)
	if !errors.Is(first, records.ErrFormat) || !errors.Is(second, records.ErrFormat) {
		t.Errorf("got errors %v and %v, want ErrFormat twice", first, second)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("a false size in a header costs %d bytes", used)
	}
}

func TestReadersPassFailuresOn(t *testing.T) {
	broken := errors.New("disk on fire")
	fail := func(data []byte) io.Reader {
		return io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken))
	}
	for name, err := range map[string]error{
		"idx": second(records.ReadIDX(fail(idx([]uint32{2, 2, 2}, 1)), nil,
			records.Image(2, 2))),
		"idx header":   second(records.ReadIDX(fail(nil), nil, records.Image(2, 2))),
		"transactions": second(records.ReadTransactions(fail([]byte("1 2\n3")), records.Sets(9, 9))),
		"csv":          second(records.CSV{}.Read(fail([]byte("1,2\n3")), records.Binary(2))),
		"npy":          second(records.ReadNPY(fail([]byte("\x93NUMPY\x01\x00")), records.Binary(2))),
	} {
		if !errors.Is(err, broken) || errors.Is(err, records.ErrFormat) {
			t.Errorf("%s: got error %v, want the reader's", name, err)
		}
	}
}

// full is a writer with room for some bytes.
type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestWritersReportAFullDisk(t *testing.T) {
	table := must(records.FromBytes(records.Image(28, 28).WithLabels("a"), make([]byte, 784*20),
		make([]int32, 20)...))(t)
	sets := must(records.FromItems(records.Sets(9, 9), slices.Repeat([][]uint32{{1, 2, 3}}, 5000)))(t)
	for room := range 3 {
		for name, err := range map[string]error{
			"images":       records.WriteIDX(&full{room * 5000}, io.Discard, table),
			"labels":       records.WriteIDX(io.Discard, &full{room}, table),
			"transactions": records.WriteTransactions(&full{room * 5000}, sets),
			"csv":          records.CSV{}.Write(&full{room * 5000}, table),
			"npy":          records.WriteNPY(&full{room * 5000}, table),
			"npz":          records.WriteNPZ(&full{room * 30}, table),
		} {
			if !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d bytes: got error %v, want the writer's", name, room, err)
			}
		}
	}
	var shape *param.Error
	if err := records.WriteIDX(io.Discard, io.Discard,
		table.WithoutLabels()); !errors.As(err, &shape) {
		t.Errorf("labels that do not exist: got error %v, want *param.Error", err)
	}
}

func TestTransactions(t *testing.T) {
	text := "3 1 2\n\n7,8;8\t9\r\n  5  \n99 4 -3 99999999999999999999\n-0 007"
	s := records.Sets(10, 4)
	want := [][]uint32{{1, 2, 3}, {}, {7, 8, 9}, {5}, {4}, {0, 7}}
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": gz([]byte(text))} {
		table, err := records.ReadTransactions(bytes.NewReader(data), s)
		if err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		if table.Len() != len(want) {
			t.Fatalf("%s: %d records, want %d", name, table.Len(), len(want))
		}
		for i, row := range want {
			if !slices.Equal(table.Items(i), row) {
				t.Errorf("%s: record %d is %v, want %v", name, i, table.Items(i), row)
			}
		}
		if err := records.Check(table); err == nil || strings.Count(err.Error(), "row 4") != 3 {
			t.Errorf("%s: Check returns %v", name, err)
		}
		var out bytes.Buffer
		if err := records.WriteTransactions(&out, table); err != nil {
			t.Fatal(err)
		}
		if out.String() != "1 2 3\n\n7 8 9\n5\n4\n0 7\n" {
			t.Errorf("%s: wrongly written as %q", name, out.String())
		}
	}
}

func TestTransactionFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sets.gz")
	save(t, path, gz([]byte("1 2\n3\n")))
	if table, err := records.OpenTransactions(path, records.Sets(4, 2)); err != nil ||
		table.Len() != 2 {
		t.Errorf("got %v and error %v, want 2 records", table, err)
	}
}

// TestWhatIsNoTransaction: words that are not items are dropped from their own lines only, and
// Check reports them.
func TestWhatIsNoTransaction(t *testing.T) {
	for text, want := range map[string][][]uint32{
		"1 2\n3 x4":      {{1, 2}, {3}},
		"1 -":            {{1}},
		"1 2-3":          {{1}},
		"1.5\n\n2":       {{}, {}, {2}},
		"--1\r\n7\r\n":   {{}, {7}},
		"1 \"secret4\n5": {{1}, {5}},
		"\xff\xfe\x001":  {{}},
	} {
		table := must(records.ReadTransactions(strings.NewReader(text), records.Sets(10, 10)))(t)
		if table.Len() != len(want) {
			t.Fatalf("%q: got a wrong number of records, %d", text, table.Len())
		}
		for i, row := range want {
			if !slices.Equal(table.Items(i), row) {
				t.Errorf("%q: record %d is %v, want %v", text, i, table.Items(i), row)
			}
		}
		if err := records.Check(table); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: Check returns %v", text, err)
		}
	}
	var shape *param.Error
	for _, s := range []records.Schema{records.Binary(3), {}, records.Sets(4, 4).WithLabels("a")} {
		if _, err := records.ReadTransactions(strings.NewReader("1"), s); !errors.As(err, &shape) {
			t.Errorf("%v: got error %v, want *param.Error", s, err)
		}
	}
}

func TestCSVRoundTrip(t *testing.T) {
	s := records.Interval(2, -5, 5).WithLabels("no", "yes, sir")
	table := must(records.FromFlat(s, []float32{1, -2.5, 3e-9, 5}, 1, 0))(t)
	for _, layout := range []records.CSV{{}, {Header: true}, {Comma: ';'}} {
		var out bytes.Buffer
		if err := layout.Write(&out, table); err != nil {
			t.Fatal(err)
		}
		back, err := layout.Read(bytes.NewReader(gz(out.Bytes())), s)
		if err != nil {
			t.Fatalf("%+v: got error %v, want none", layout, err)
		}
		got, _ := back.Flat()
		if want, _ := table.Flat(); !slices.Equal(got, want) ||
			!slices.Equal(back.Labels(), table.Labels()) {
			t.Errorf("%+v: wrongly read back as %v with labels %v", layout, got, back.Labels())
		}
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	save(t, path, []byte("1, 2, no\n3, 1e99, maybe\n"))
	odd := must(records.CSV{}.Open(path, s))(t)
	if odd.Label(1) != 0 || odd.Row(nil, 1)[1] != 5 || records.Check(odd) == nil {
		t.Errorf("got %v with labels %v, want unknown values replaced and reported",
			odd.Row(nil, 1), odd.Labels())
	}
}

// TestLinesThatCannotBeRead: each unreadable line becomes a separate neutral record, which Check
// reports.
func TestLinesThatCannotBeRead(t *testing.T) {
	s := records.Interval(2, -1, 9).WithLabels("a", "b").WithUnknown("b")
	for text, rows := range map[string]int{
		"1,2,a\n3":                   2,
		"1,2,a\n3,secret,a":          2,
		"1,2,a\n1,\"2,a\nx":          3,
		"1,2,a\n1,se\"cret,a":        2,
		"1,2,a\n\n1,2,3,a":           2,
		"1,2,a\n\"1\"2,2,a\n":        2,
		"1,2,a\n ,,a\n":              2,
		"1,2,a\n0x1p-2,0b1,a\n,\n,,": 4,
	} {
		table := must(records.CSV{}.Read(strings.NewReader(text), s))(t)
		if table.Len() != rows {
			t.Fatalf("%q: got a wrong number of records, %d", text, table.Len())
		}
		if row := table.Row(nil, 0); row[0] != 1 || row[1] != 2 || table.Label(0) != 0 {
			t.Errorf("%q: the first record is %v of class %d", text, row, table.Label(0))
		}
		if row := table.Row(nil, rows-1); row[1] != -1 {
			t.Errorf("%q: the last record is %v", text, row)
		}
		if err := records.Check(table); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: Check returns %v", text, err)
		}
	}
	if _, err := (records.CSV{Header: true}).Read(strings.NewReader("a,b\n1,2,a\n"),
		s); !errors.Is(err, records.ErrFormat) {
		t.Errorf("a header of another number of columns: got error %v, want ErrFormat", err)
	}
	var shape *param.Error
	for name, err := range map[string]error{
		"sets": second(records.CSV{}.Read(strings.NewReader(""), records.Sets(3, 3))),
		"a limit": second(
			records.CSV{Limits: records.Limits{Fields: -1}}.Read(strings.NewReader(""), s)),
		"separator": second(records.CSV{Comma: '"'}.Read(strings.NewReader(""), s)),
		"no schema": second(records.CSV{}.Read(strings.NewReader(""), records.Schema{})),
	} {
		if !errors.As(err, &shape) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
}

func TestNPZRoundTrip(t *testing.T) {
	for name, s := range map[string]records.Schema{
		"vectors": records.Interval(4, -1, 1).WithLabels("a", "b", "c"),
		"images":  records.Image(2, 2),
	} {
		var labels []int32
		if s.Classes() > 0 {
			labels = []int32{2, 0, 1}
		}
		flat := []float32{0, 0.25, 0.5, 1, 0.1, 0.2, 0.3, 0.4, 1, 1, 1, 1}
		table := must(records.FromFlat(s, flat, labels...))(t)
		var out bytes.Buffer
		if err := records.WriteNPZ(&out, table); err != nil {
			t.Fatal(err)
		}
		back, err := records.ReadNPZ(bytes.NewReader(out.Bytes()), int64(out.Len()), s)
		if err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		if got, _ := back.Flat(); !slices.Equal(got, flat) || !slices.Equal(back.Labels(), labels) {
			t.Errorf("%s: wrongly read back as %v with labels %v", name, got, back.Labels())
		}
	}
}

// npy returns an array in NumPy's format with the given element type, shape and body.
func npy(descr, shape string, body ...byte) []byte {
	header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
	out := append([]byte("\x93NUMPY\x02\x00"),
		binary.LittleEndian.AppendUint32(nil, uint32(len(header)))...)
	return append(append(out, header...), body...)
}

func TestNPYElementTypes(t *testing.T) {
	s := records.Interval(2, -300, 300)
	for descr, c := range map[string]struct {
		body []byte
		want []float32
	}{
		"|u1": {[]byte{1, 255}, []float32{1, 255}},
		"|i1": {[]byte{1, 255}, []float32{1, -1}},
		"|b1": {[]byte{0, 1}, []float32{0, 1}},
		"<u2": {[]byte{1, 0, 0, 1}, []float32{1, 256}},
		">u2": {[]byte{0, 1, 1, 0}, []float32{1, 256}},
		"<i2": {[]byte{1, 0, 255, 255}, []float32{1, -1}},
		"<i4": {[]byte{1, 0, 0, 0, 255, 255, 255, 255}, []float32{1, -1}},
		"<u4": {[]byte{1, 0, 0, 0, 44, 1, 0, 0}, []float32{1, 300}},
		">f4": {[]byte{0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}, []float32{1, -2}},
		"<f8": {[]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}, []float32{1, -2}},
		"<i8": {[]byte{1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, []float32{1, -1}},
		">u8": {[]byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, []float32{1, 256}},
	} {
		table, err := records.ReadNPY(bytes.NewReader(npy(descr, "(1, 2)", c.body...)), s)
		if err != nil {
			t.Errorf("%s: got error %v, want none", descr, err)
			continue
		}
		if got := table.Row(nil, 0); !slices.Equal(got, c.want) {
			t.Errorf("%s: read as %v, want %v", descr, got, c.want)
		}
	}
	grey, err := records.ReadNPY(bytes.NewReader(npy("|u1", "(1, 1, 2)", 0, 255)), records.Image(1, 2))
	if err != nil || grey.Row(nil, 0)[1] != 1 {
		t.Errorf("bytes of a grey image: got error %v, or a wrong pixel", err)
	}
}

func TestMalformedNPY(t *testing.T) {
	good := npy("<f4", "(1, 2)", make([]byte, 8)...)
	for name, data := range map[string][]byte{
		"empty":         {},
		"text":          []byte("this is not an array"),
		"version":       append([]byte("\x93NUMPY\x09\x00"), good[8:]...),
		"cut header":    good[:20],
		"cut body":      good[:len(good)-1],
		"longer":        append(slices.Clone(good), 0),
		"objects":       npy("|O", "(1, 2)"),
		"float16":       npy("<f2", "(1, 2)", make([]byte, 4)...),
		"fortran":       bytes.Replace(good, []byte("False"), []byte("True "), 1),
		"no shape":      npy("<f4", "()", make([]byte, 4)...),
		"another shape": npy("<f4", "(2, 1)", make([]byte, 8)...),
		"huge count":    npy("<f4", "(1000000000, 2)"),
		"overflow":      npy("<f4", "(99999999999999999999, 2)"),
		"wide":          npy("<f4", "(1, 4294967296, 4294967296, 2)"),
		"empty axis":    npy("<f4", "(1, 0, 2)"),
		"huge header":   append([]byte("\x93NUMPY\x02\x00"), 255, 255, 255, 255),
	} {
		if _, err := records.ReadNPY(bytes.NewReader(data), records.Binary(2)); !errors.Is(err,
			records.ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
	var shape *param.Error
	for _, s := range []records.Schema{{}, records.Sets(2, 2), records.Binary(2).WithLabels("a")} {
		if _, err := records.ReadNPY(bytes.NewReader(good), s); !errors.As(err, &shape) {
			t.Errorf("%v: got error %v, want *param.Error", s, err)
		}
	}
}

func archive(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, data := range members {
		m := must(w.Create(name))(t)
		m.Write(data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestMalformedNPZ(t *testing.T) {
	x := npy("<f4", "(2, 1)", make([]byte, 8)...)
	s := records.Binary(1).WithLabels("a", "b")
	for name, data := range map[string][]byte{
		"no archive": x,
		"no records": archive(t, map[string][]byte{"y.npy": npy("<i4", "(2,)", make([]byte, 8)...)}),
		"no labels":  archive(t, map[string][]byte{"x.npy": x}),
		"too few": archive(t,
			map[string][]byte{"x.npy": x, "y.npy": npy("<i4", "(1,)", make([]byte, 4)...)}),
		"wide labels": archive(t,
			map[string][]byte{"x.npy": x, "y.npy": npy("<i4", "(1, 2)", make([]byte, 8)...)}),
		"spoilt array": archive(t,
			map[string][]byte{"x.npy": x[:30], "y.npy": npy("<i4", "(2,)", make([]byte, 8)...)}),
	} {
		if _, err := records.ReadNPZ(bytes.NewReader(data), int64(len(data)), s); !errors.Is(err,
			records.ErrFormat) {
			t.Errorf("%s: error %v, want ErrFormat", name, err)
		}
	}
	other := archive(t, map[string][]byte{"x_train.npy": x,
		"y_train.npy": npy("<i4", "(2,)", 1, 0, 0, 0, 0, 0, 0, 0), "x_test.npy": nil})
	table, err := records.ReadNPZ(bytes.NewReader(other), int64(len(other)), s)
	if err != nil || !slices.Equal(table.Labels(), []int32{1, 0}) {
		t.Errorf("arrays x_train and y_train: %v", err)
	}
	odd := archive(t,
		map[string][]byte{"x.npy": x, "y.npy": npy("<f4", "(2,)", 0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x3f)})
	table, err = records.ReadNPZ(bytes.NewReader(odd), int64(len(odd)), s)
	if err != nil || !slices.Equal(table.Labels(), []int32{0, 1}) || records.Check(table) == nil {
		t.Errorf("a label that is not a number: %v", err)
	}
}
