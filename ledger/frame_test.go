package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// TestFrameDamageBeforeASnapshot: a ledger is opened from the last snapshot. The lines before the
// snapshot must still be undamaged.
func TestFrameDamageBeforeASnapshot(t *testing.T) {
	disk := newSimulated()
	b := simulatedStore(t, disk)
	j, err := b.Journal(t.Context(), "people", Create)
	if err != nil {
		t.Fatal(err)
	}
	at := Position{}
	for i := range 4 {
		kind := "text"
		if i == 2 {
			kind = "snapshot"
		}
		text := fmt.Appendf(nil, `{"line":%d,%q:%d}`, i+1, kind, 7)
		line := JournalLine{Text: text, Snapshot: i == 2, Position: Position{
			Line: at.Line + 1, Hash: ChainHash(at.Hash, text)}}
		if err := j.Append(t.Context(), at, []JournalLine{line}); err != nil {
			t.Fatal(err)
		}
		at = line.Position
	}
	open := func() error {
		k, err := b.Journal(t.Context(), "people", Write)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range k.(Snapshotter).ReadLatest(t.Context()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	for name, f := range disk.names {
		if bytes.HasSuffix([]byte(name), []byte("journal")) {
			i := bytes.Index(f.content, []byte(`{"line":2`)) + len(`{"line":2,"text":`)
			f.content[i] = '8'
		}
	}
	if err := open(); !errors.Is(err, ErrDamaged) {
		t.Errorf("a changed line before a snapshot: got %v, want ErrDamaged", err)
	}
}

func TestFrameRefuses(t *testing.T) {
	text := []byte(`{"line":1}`)
	line := JournalLine{Text: text,
		Position: Position{Line: 1, Hash: ChainHash("", text)}}
	good, err := appendFrame(nil, line)
	if err != nil {
		t.Fatal(err)
	}
	good = good[:len(good)-1]
	if got, ok := parseFrame(good); !ok || got.Position != line.Position ||
		!bytes.Equal(got.Text, text) {
		t.Fatalf("a frame is read back as %+v", got)
	}
	at := hashLength + 1
	for _, bad := range [][]byte{nil, good[:at], good[:at+3], good[1:],
		bytes.Replace(good, []byte(" 1 "), []byte(" 01 "), 1),
		bytes.Replace(good, []byte(" 1 "), []byte(" 0 "), 1),
		bytes.Replace(good, []byte(" 1 "), []byte(" +1 "), 1),
		bytes.Replace(good, []byte(" 1 "), []byte("  "), 1),
		bytes.Replace(good, []byte(" 1 "), []byte(" 99999999999999999999 "), 1),
		bytes.Replace(good, []byte(" 1 "), []byte(" 18446744073709551617 "), 1), // 2⁶⁴ + 1
		bytes.Replace(good, []byte(" - "), []byte(" x "), 1),
		bytes.Replace(good, []byte(" - "), []byte(" -"), 1)} {
		if f, ok := parseFrame(bad); ok && f.Position == line.Position && f.Snapshot == line.Snapshot &&
			bytes.Equal(f.Text, text) {
			t.Errorf("%q reads as the line", bad)
		}
	}
	for n := range len(good) { // whatever a file holds, it is read or it is not
		for _, c := range []byte{' ', '0', '9', 'x', 's', 0} {
			bad := bytes.Clone(good)
			bad[n] = c
			for cut := range 12 {
				if f, ok := parseFrame(bad[:max(0, at+cut)]); ok && f.Line == 0 {
					t.Errorf("%q is read as line 0", bad[:at+cut])
				}
			}
			if f, ok := parseFrame(bad); ok && (n == at-1 && c != ' ' || f.Line == 0) {
				t.Errorf("%q is read as %+v", bad, f)
			}
		}
	}
	for i := range 8 { // no number, or no kind
		b := append(bytes.Repeat([]byte{'0'}, hashLength), "       1"[i:]...)
		if _, ok := parseFrame(b); ok {
			t.Errorf("%q is read", b)
		}
		if _, ok := parseFrame(append(b[:hashLength:hashLength], " 1234567"[:i+1]...)); ok {
			t.Errorf("a number of %d digits alone is read", i)
		}
	}
	for _, bad := range []JournalLine{
		{Text: []byte("a\nb"), Position: line.Position},
		{Text: text, Position: Position{Line: 1, Hash: "short"}}} {
		if _, err := appendFrame(nil, bad); err == nil {
			t.Errorf("%+v was written without an error", bad)
		}
	}
}
