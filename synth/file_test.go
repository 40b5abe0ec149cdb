package synth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

func sample() *File {
	return &File{Kind: "dpgm", Header: json.RawMessage(`{"k":3}`),
		Sections: []Section{{"centres", Floats([]float32{1, -2, 3.5})}, {"empty", nil},
			{"weights", Floats([]float32{0.25})}}}
}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	got, err := DecodeFile(bytes.NewReader(encoded(t, sample())))
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != "dpgm" || string(got.Header) != `{"k":3}` || len(got.Sections) != 3 {
		t.Fatalf("got %+v", got)
	}
	data, err := got.Section("centres")
	if err != nil {
		t.Fatal(err)
	}
	v, err := ReadFloats[float32](data, 3)
	if err != nil || v[2] != 3.5 {
		t.Fatalf("got %v, %v", v, err)
	}
	if _, err := got.Section("none"); !errors.Is(err, ErrFormat) {
		t.Errorf("a missing section: got error %v, want ErrFormat", err)
	}
}

// TestEveryDamageIsFound changes each byte of a file, and truncates the file at every length, and
// checks that reading it is an error.
func TestEveryDamageIsFound(t *testing.T) {
	whole := encoded(t, sample())
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 0x20
		if _, err := DecodeFile(bytes.NewReader(bad)); err == nil {
			t.Errorf("byte %d flipped: no error", i)
		}
		if _, err := DecodeFile(bytes.NewReader(whole[:i])); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
	}
}

func TestHugeClaimsAllocateLittle(t *testing.T) {
	f := sample()
	whole := encoded(t, f)
	huge := bytes.Replace(whole, []byte(`"bytes":12`), []byte(`"bytes":1099511627776`), 1)
	huge[8] += byte(len(huge) - len(whole))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := DecodeFile(bytes.NewReader(huge))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTruncated) {
		t.Errorf("got %v, want %v", err, ErrTruncated)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("a file of %d bytes made DecodeFile allocate %d bytes", len(huge), got)
	}
}

func TestFloatsRefuseWhatIsNotFinite(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := ReadFloats[float32](Floats([]float32{float32(x)}), 1); !errors.Is(err, ErrFormat) {
			t.Errorf("%v: got error %v, want ErrFormat", x, err)
		}
	}
	if _, err := ReadFloats[float32](make([]byte, 5), 1); !errors.Is(err, ErrFormat) {
		t.Error("five bytes are accepted as one number")
	}
}

func TestVersionIsNamed(t *testing.T) {
	whole := encoded(t, sample())
	whole[7] = 3
	if _, err := DecodeFile(bytes.NewReader(whole)); !errors.Is(err, ErrVersion) {
		t.Errorf("got %v, want %v", err, ErrVersion)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encoded(f, sample()))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := DecodeFile(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := file.Write(&again); err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeFile(&again); err != nil {
			t.Fatalf("a file that was read and written cannot be read again: %v", err)
		}
	})
}

type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestFullDiskIsReported(t *testing.T) {
	size := len(encoded(t, sample()))
	for room := range size {
		if err := sample().Write(&fullDisk{room}); err == nil {
			t.Fatalf("no error with room for %d of %d bytes", room, size)
		}
	}
}

// TestNoFileIsWrittenThatCannotBeRead checks that Write refuses a header with a list that is too
// long for DecodeFile. Such a list belongs in a section.
func TestNoFileIsWrittenThatCannotBeRead(t *testing.T) {
	header := []byte("[" + strings.Repeat("0,", 400_000) + "0]")
	var out bytes.Buffer
	err := (&File{Kind: "k", Header: header}).Write(&out)
	if !errors.Is(err, ErrFormat) || out.Len() > 0 {
		t.Errorf("got error %v and %d bytes written, want ErrFormat and 0", err, out.Len())
	}
}
