package ledger

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

var hostile = flag.Int("journals", 3_000, "damaged journals that TestDamagedJournals opens")

// sample is a journal with a line of every kind, and its mark.
func sample(t testing.TB, disk *simulated, s *Store) (journal, mark []byte, want map[string]int) {
	l, err := s.Create(t.Context(), "people", testTerms)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	r, err := l.Reserve("count", cheap, 5)
	check(err)
	check(r.Spend())
	r.Note(ExactNoise)
	tx := Transaction{ID: "run", Groups: []Parts{{Purpose: "classes", N: 2}},
		Lines: []Line{{Purpose: "run", Event: cheap, Count: 2},
			{Purpose: "step", Event: accountant.Laplace{Scale: 100}, Count: 3, Group: 1, Part: 1}}}
	all, err := l.ReserveAll(tx)
	check(err)
	check(all[1].Spend())
	parts, err := l.Disjoint(Parts{Purpose: "shards", N: 2})
	check(err)
	check(parts[0].Spend("shard", cheap))
	l.MarkNotPrivate("a test")
	check(l.Compact())
	check(l.LedTo(Release{Transaction: "run"}))
	check(l.Spend("count", cheap))
	check(l.Spend("last", cheap))
	for name, f := range disk.names {
		if bytes.HasSuffix([]byte(name), []byte("journal")) {
			journal = bytes.Clone(f.content)
		} else {
			mark = bytes.Clone(f.content)
		}
	}
	return journal, mark, totals(l)
}

// totals returns the numbers of reserved uses and of taken uses by purpose. They include the parts.
func totals(l *Ledger) map[string]int {
	out := map[string]int{}
	add(out, l)
	return out
}

func add(out map[string]int, l *Ledger) {
	for _, e := range l.Entries() {
		out[e.Purpose+" reserved"] += e.Reserved
		out[e.Purpose+" spent"] += e.Spent
	}
	for _, g := range l.Children() {
		for _, part := range g.Parts {
			add(out, part)
		}
	}
}

// opened opens a journal with these bytes. Either the journal is refused, or nothing is missing.
func opened(t testing.TB, disk *simulated, s *Store, journal, mark []byte,
	want map[string]int) (refused bool) {
	for name, f := range disk.names {
		f.content = mark
		if bytes.HasSuffix([]byte(name), []byte("journal")) {
			f.content = journal
		}
	}
	l, err := s.Open(t.Context(), "people")
	if err != nil {
		return true
	}
	defer l.Close()
	got := totals(l)
	for purpose, n := range want {
		if got[purpose] < n {
			t.Errorf("%s: got %d, want at least %d, in the journal\n%s", purpose, got[purpose], n, journal)
		}
	}
	return false
}

// TestDamagedJournals damages a journal or its mark at random.
func TestDamagedJournals(t *testing.T) {
	disk := newSimulated()
	s := simulatedStore(t, disk)
	journal, mark, want := sample(t, disk, s)
	if opened(t, disk, s, journal, mark, want) {
		t.Fatal("the undamaged journal is refused")
	}
	rng := rand.New(rand.NewPCG(1, uint64(*hostile)))
	refused := 0
	for range *hostile {
		j, m := journal, mark
		switch rng.IntN(10) {
		case 0:
			m = damage(rng, m)
		case 1, 2, 3: // damaged texts in a valid chain
			j = chained(damageTexts(rng, j))
			m = markOf(j)
			opened(t, disk, s, j, m, nil)
			continue
		default:
			j = damage(rng, j)
		}
		if bytes.Equal(j, journal) && bytes.Equal(m, mark) {
			continue
		}
		if opened(t, disk, s, j, m, want) {
			refused++
		}
	}
	if refused < *hostile/3 {
		t.Errorf("%d of %d journals were refused: too few to show anything", refused, *hostile)
	}
	t.Logf("%d of %d journals were refused", refused, *hostile)
}

// damage changes bytes: it flips a bit, overwrites a few bytes, cuts out, cuts off, zeroes or
// repeats a piece, or swaps or drops whole lines.
func damage(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	at, end := rng.IntN(len(b)), 0
	end = min(len(b), at+1+rng.IntN(1+rng.IntN(len(b))))
	switch rng.IntN(7) {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		for range 1 + rng.IntN(4) {
			b[rng.IntN(len(b))] = byte(rng.IntN(256))
		}
	case 2:
		b = append(b[:at], b[end:]...)
	case 3:
		b = b[:at]
	case 4:
		clear(b[at:end])
	case 5:
		b = append(append(bytes.Clone(b[:end]), b[at:end]...), b[end:]...)
	case 6: // whole lines
		lines := bytes.SplitAfter(b, []byte("\n"))
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		if rng.IntN(2) == 0 {
			lines = append(lines[:i], lines[i+1:]...)
		}
		b = bytes.Join(lines, nil)
	}
	return b
}

// damageTexts returns the texts of the lines, and damages one of them.
func damageTexts(rng *rand.Rand, journal []byte) (texts [][]byte) {
	for _, frame := range bytes.Split(bytes.TrimSuffix(journal, []byte("\n")), []byte("\n")) {
		if line, ok := parseFrame(frame); ok {
			texts = append(texts, line.Text)
		}
	}
	i := rng.IntN(len(texts))
	switch rng.IntN(4) {
	case 0:
		texts = append(texts, texts[i])
	case 1: // another number, if there is one
		texts[i] = number(rng, texts[i])
	default:
		texts[i] = damage(rng, texts[i])
	}
	return texts
}

var numbers = []string{"0", "-1", "1e400", "9223372036854775807", "4611686018427387904", "1.5",
	"null", `""`, "[]", "{}", "1000000000"}

// number replaces a number with an awkward value.
func number(rng *rand.Rand, text []byte) []byte {
	var at []int
	for i := 1; i < len(text); i++ {
		if text[i] >= '0' && text[i] <= '9' && text[i-1] == ':' {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return text
	}
	i := at[rng.IntN(len(at))]
	end := i
	for end < len(text) && bytes.IndexByte([]byte("0123456789.e+-"), text[end]) >= 0 {
		end++
	}
	return append(append(bytes.Clone(text[:i]), numbers[rng.IntN(len(numbers))]...), text[end:]...)
}

// chained returns a journal of these texts with correct hashes.
func chained(texts [][]byte) (journal []byte) {
	at := Position{}
	for i, text := range texts {
		text = bytes.ReplaceAll(text, []byte("\n"), nil)
		snapshot := bytes.Contains(text, []byte(`"snapshot":`))
		if i == 0 && snapshot {
			_, _ = fmt.Sscanf(string(text), `{"line":%d`, &at.Line)
			at.Line--
			_, rest, _ := bytes.Cut(text, []byte(`"previous":"`))
			previous, _, _ := bytes.Cut(rest, []byte(`"`))
			at.Hash = string(previous)
		}
		line := JournalLine{Text: text, Snapshot: snapshot, Position: Position{
			Line: at.Line + 1, Hash: ChainHash(at.Hash, text)}}
		var err error
		if journal, err = appendFrame(journal, line); err != nil {
			return journal
		}
		at = line.Position
	}
	return journal
}

// markOf returns a mark that names the last line of a journal.
func markOf(journal []byte) []byte {
	frames := bytes.Split(bytes.TrimSuffix(journal, []byte("\n")), []byte("\n"))
	line, _ := parseFrame(frames[len(frames)-1])
	disk := newSimulated()
	f, _ := disk.Open("mark", true, true)
	m := mark{file: f}
	_ = m.write(line.Position) // in memory
	b, err := io.ReadAll(io.NewSectionReader(f, 0, slotSize))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return b
}

// FuzzJournal opens journals of arbitrary bytes: as they are, and as texts with correct hashes.
func FuzzJournal(f *testing.F) {
	disk := newSimulated()
	folder := f.TempDir()
	s := NewStore(&dir{folder: folder, disk: fuzzed{disk}})
	if err := (files{}).MakeFolder(folder + "/people"); err != nil {
		f.Fatal(err)
	}
	journal, mark, want := sample(f, disk, s)
	f.Add(journal)
	var texts [][]byte
	for _, frame := range bytes.Split(bytes.TrimSuffix(journal, []byte("\n")), []byte("\n")) {
		line, _ := parseFrame(frame)
		texts = append(texts, line.Text)
	}
	f.Add(bytes.Join(texts, []byte("\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		opened(t, disk, s, data, mark, want)
		rewritten := chained(bytes.Split(data, []byte("\n")))
		opened(t, disk, s, rewritten, markOf(rewritten), nil)
	})
}

type fuzzed struct{ *simulated }

func (fuzzed) MakeFolder(string) error { return nil }
