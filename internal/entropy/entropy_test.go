package entropy

import (
	"context"
	"crypto/aes"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustNew(t testing.TB) *Source {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func first(s *Stream) [4]uint64 {
	return [4]uint64{s.Uint64(), s.Uint64(), s.Uint64(), s.Uint64()}
}

func TestStreamsDiffer(t *testing.T) {
	s := mustNew(t)
	seen := map[[4]uint64]string{}
	add := func(name string, words [4]uint64) {
		if other, ok := seen[words]; ok {
			t.Errorf("%s and %s are the same stream", name, other)
		}
		seen[words] = name
	}
	for _, p := range []Purpose{Noise, Chunked, Sampler} {
		for id := range uint64(5) {
			for chunk := range uint32(5) {
				add("a sub-stream", first(s.Stream(p, id, chunk)))
			}
		}
	}
	add("the largest", first(s.Stream(Chunked, maxID, 1<<32-1)))
	add("another run", first(mustNew(t).Stream(Noise, 0, 0)))
}

// TestCounterBlocksNeverMeet: the fields do not overlap, so no two sub-streams can share a block
// within 2^48 blocks of their beginnings.
func TestCounterBlocksNeverMeet(t *testing.T) {
	var all, none [aes.BlockSize]byte
	counterBlock(&all, 0xff, maxID, 1<<32-1)
	set := 0
	for _, b := range all {
		set += bits.OnesCount8(b)
	}
	if set != 8+40+32 || all[10]|all[11]|all[12]|all[13]|all[14]|all[15] != 0 {
		t.Errorf("fields overlap each other or the counter: %x", all)
	}
	counterBlock(&none, 0, 0, 0)
	if none != [aes.BlockSize]byte{} {
		t.Errorf("the counter block of zeros is %x, want zeros", none)
	}
	defer func() {
		if recover() == nil {
			t.Error("a stream number that does not fit was accepted")
		}
	}()
	counterBlock(&all, Noise, maxID+1, 0)
}

// TestWordsAndBytesNeverRepeat: a stream advances in whichever way it is read.
func TestWordsAndBytesNeverRepeat(t *testing.T) {
	s := mustNew(t).Stream(Noise, 1, 0)
	seen := map[uint64]bool{}
	buf := make([]uint64, 3*Buffer+5)
	for range 5 {
		for range Buffer + 3 {
			w := s.Uint64()
			if seen[w] {
				t.Fatal("a word came twice")
			}
			seen[w] = true
		}
		s.FillWords(buf)
		for _, w := range buf {
			if seen[w] {
				t.Fatal("a word came twice")
			}
			seen[w] = true
		}
	}
	for _, z := range zeros {
		if z != 0 {
			t.Fatal("the constant zeros were written to")
		}
	}
}

func TestSeededRepeatsAndNewDoesNot(t *testing.T) {
	a, _ := Seeded(4)
	b, _ := Seeded(4)
	c, _ := Seeded(5)
	if first(a.Stream(Noise, 1, 2)) != first(b.Stream(Noise, 1, 2)) {
		t.Error("one seed gives two different streams")
	}
	if first(a.Stream(Noise, 1, 2)) == first(c.Stream(Noise, 1, 2)) {
		t.Error("two seeds give the same stream")
	}
	if !a.Seeded() || mustNew(t).Seeded() {
		t.Error("Seeded returns the wrong answer")
	}
	x, y := first(mustNew(t).Stream(Noise, 1, 2)), first(mustNew(t).Stream(Noise, 1, 2))
	if x == y {
		t.Error("two runs share their key")
	}
}

func TestIndexedDependsOnRowOnly(t *testing.T) {
	s := mustNew(t)
	a, b := s.Indexed(RowKey, 3), s.Indexed(RowKey, 3)
	a.At(1)
	a.At(math.MaxInt)
	if a.At(7) != b.At(7) || a.At(7) == a.At(8) {
		t.Error("a row's word depends on earlier calls, or two rows have the same word")
	}
	if s.Indexed(RowKey, 4).At(7) == b.At(7) || s.Indexed(Include, 3).At(7) == b.At(7) {
		t.Error("two steps or two purposes share words")
	}
}

// TestBelowIsExact: every number below n has 2^64 ÷ n words, rounded down. Other words are drawn
// again, from words of the same row.
func TestBelowIsExact(t *testing.T) {
	x := mustNew(t).Indexed(Slot, 1)
	n := uint64(3 << 61) // a quarter of all words is drawn again
	again, half := 0, 0
	if x.Below(n, 7, 0) == x.Below(n, 7, 1) || x.Below(n, 7, 1) == x.Below(n, 8, 1) {
		t.Error("two draws share a number")
	}
	for row := range 2000 {
		v := x.Below(n, row, 0)
		if v >= n || v != x.Below(n, row, 0) {
			t.Fatalf("row %d: %d and %d, want one number below %d", row, v, x.Below(n, row, 0), n)
		}
		if hi, lo := bits.Mul64(x.word(row, 0), n); lo < -n%n {
			if again++; hi == v {
				t.Fatalf("row %d: %d of a word that must be drawn again", row, v)
			}
		} else if hi != v {
			t.Fatalf("row %d: %d, want %d", row, v, hi)
		}
		if v < n/2 {
			half++
		}
	}
	// Each is binomial and off by 7 standard deviations with probability 3e-12.
	if want := 2000 / 4.; math.Abs(float64(again)-want) > 7*math.Sqrt(2000*3/16.) {
		t.Errorf("%d words of 2000 are drawn again, want about %v", again, want)
	}
	if math.Abs(float64(half)-1000) > 7*math.Sqrt(500) {
		t.Errorf("%d numbers of 2000 are in the lower half", half)
	}
}

func TestTapTravelsInContext(t *testing.T) {
	if TapFrom(context.Background()) != nil {
		t.Error("a context without a tap returned one")
	}
}

// TestOnlyPrivacytestTaps: only the packages for tests may use a seed or a tap. If other code did,
// noise could be made predictable outside tests.
func TestOnlyPrivacytestTaps(t *testing.T) {
	root := filepath.Join("..", "..")
	walked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		walked++
		rel, _ := filepath.Rel(root, path)
		home := strings.HasPrefix(filepath.ToSlash(rel), "privacytest/") ||
			strings.HasPrefix(filepath.ToSlash(rel), "internal/entropy/") ||
			strings.HasPrefix(filepath.ToSlash(rel), "synth/synthtest/")
		for _, word := range []string{"entropy.WithTap(", "entropy.Seeded(", "entropy.Renumbered("} {
			if !home && strings.Contains(string(text), word) {
				t.Errorf("%s uses %s", rel, word)
			}
		}
		return nil
	})
	if err != nil || walked < 20 {
		t.Errorf("walked %d files: %v", walked, err)
	}
}

func BenchmarkFillWords(b *testing.B) {
	s := mustNew(b).Stream(Noise, 1, 0)
	buf := make([]uint64, Buffer)
	b.SetBytes(8 * Buffer)
	for b.Loop() {
		s.FillWords(buf)
	}
}
