package draft

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A reading is a way to read the texts of a column.
type reading interface {
	// read adds a text. It returns false if the text cannot be read in this way.
	read(text string) bool
	// differ reports whether the texts that were read have different values of this kind.
	differ() bool
	// covers reports whether another reading has the same values so far.
	covers(other reading) bool
}

// A candidate is a reading, and the number of cells that it cannot read.
type candidate struct {
	reading
	missed int
}

// Bounds on what is kept of a column. Only the first different texts are kept. The readings that
// fit them are tried on all others.
const (
	mostTexts  = 4096
	mostMet    = 1 << 17 // texts among which repetitions are searched
	firstTexts = 64      // with which readings are chosen that are tried on the others
	mostWords  = 3       // different words that stand for a missing value
)

// seenColumn describes the texts of a column in public rows.
type seenColumn struct {
	rows, missed int
	kept         int            // largest number of texts that are kept
	texts        map[string]int // how often each of the first different texts occurs
	order        []string       // these texts, as they came
	more         int            // cells with other texts
	begun        bool
	candidates   []*candidate
	shape        shape
	words        map[string]int // of no digit: missing values among numbers or dates
	first        string         // text of the first line
	again        bool           // whether it is in another line
	chosen       *candidate     // nil if the column holds texts
	foreign      bool           // whether a text is not UTF-8
	controls     bool           // whether one cannot be a level
}

// addAll adds the texts of lines to all columns.
func addAll(seen []seenColumn, lines [][]string, missing []string) {
	var group sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(seen))
	for w := range workers {
		group.Go(func() {
			for j := w; j < len(seen); j += workers {
				for _, fields := range lines {
					seen[j].add(fields[j], missing)
				}
			}
		})
	}
	group.Wait()
}

func unseen(first []string, kept int) []seenColumn {
	seen := make([]seenColumn, len(first))
	for j := range seen {
		seen[j] = seenColumn{kept: kept, texts: map[string]int{}, first: strings.Clone(first[j]),
			words: map[string]int{}}
	}
	return seen
}

// add adds the text of a cell.
func (c *seenColumn) add(text string, missing []string) {
	c.rows++
	if slices.Contains(missing, text) {
		c.missed++
		return
	}
	if c.more > 0 { // too many to count
		c.more++
		c.try(text, 1)
		return
	}
	n, met := c.texts[text]
	if met || len(c.texts) < c.kept {
		if !met {
			text = strings.Clone(text)
			c.order = append(c.order, text)
		}
		c.texts[text] = n + 1
		c.shape.repeated = c.shape.repeated || met
		if met || !c.begun {
			return
		}
	} else {
		c.more++
	}
	c.begin()
	c.try(text, 1)
}

// begin chooses the readings that fit most of the first texts.
func (c *seenColumn) begin() {
	if c.begun {
		return
	}
	c.begun = true
	var some []string
	for _, text := range c.order {
		if len(some) < firstTexts && hasDigit(text) {
			some = append(some, text)
		}
	}
	for _, fresh := range append(layoutsIn(some), readings...) {
		r, misses := fresh(), 0
		for i, text := range some {
			if !r.read(text) {
				misses++
			}
			if 4*misses > max(len(some), i+1) || i == 2 && misses == 3 {
				misses = len(some)
				break
			}
		}
		if misses < len(some) {
			c.candidates = append(c.candidates, &candidate{reading: fresh()})
		}
	}
	for _, text := range c.order {
		c.try(text, c.texts[text])
	}
	if len(c.order) == c.kept {
		c.prune()
	}
}

// layoutsIn makes the layouts that some texts may have.
func layoutsIn(texts []string) (list []func() reading) {
	const mostShown, mostLayouts = 16, 64
	var layouts []string
	for _, text := range texts[:min(len(texts), mostShown)] {
		for _, layout := range layoutsOf(text) {
			if !slices.Contains(layouts, layout) && len(layouts) < mostLayouts {
				layouts = append(layouts, layout)
				list = append(list, func() reading { return &dateForm{layout: layout} })
			}
		}
	}
	return list
}

// prune drops the readings that many texts have shown to be wrong, or to be no others.
func (c *seenColumn) prune() {
	var kept []*candidate
	for _, r := range c.candidates {
		if c.bears(r) && r.differ() && !slices.ContainsFunc(kept, func(k *candidate) bool {
			return k.missed <= r.missed && k.reading.covers(r.reading)
		}) {
			kept = append(kept, r)
		}
	}
	c.candidates = kept
}

// try adds a text that was not met before, or not among the first ones.
func (c *seenColumn) try(text string, cells int) {
	c.again = c.again || text == c.first
	c.foreign = c.foreign || !utf8.ValidString(text)
	c.controls = c.controls || c.more == 0 && strings.ContainsFunc(text, unicode.IsControl)
	c.shape.add(text)
	const most = 2 * mostTexts / firstTexts // more words are no missing values
	if word := !hasDigit(text) || text[0] == '#' && isMissing(text); word && len(c.words) <= most {
		c.words[text] += cells
		return
	}
	for _, r := range c.candidates {
		if !r.read(text) {
			r.missed += cells
		}
	}
}

// cells returns the number of cells that hold a text and no word.
func (c *seenColumn) cells() int {
	n := c.rows - c.missed
	for _, cells := range c.words {
		n -= cells
	}
	return n
}

// tolerance is how many cells there are for each one that a reading may miss.
const tolerance = 50

func (c *seenColumn) bears(r *candidate) bool { return r.missed*tolerance <= c.cells() }

// choose decides how the column is read: in the way that misses the fewest cells, the first one if
// several do. Few cells may be missed.
func (c *seenColumn) choose() {
	c.begin()
	c.chosen = nil
	for _, r := range c.candidates {
		if c.bears(r) && r.differ() &&
			(c.chosen == nil || r.missed < c.chosen.missed) {
			c.chosen = r
		}
	}
	if c.chosen == nil || c.cells() == 0 || !c.aside() {
		c.chosen = nil
	}
}

// aside reports whether the words of the column can stand for missing values: all of them are
// usual ones, or they are few among many other texts.
func (c *seenColumn) aside() bool {
	unknown, cells := 0, 0
	for word, n := range c.words {
		if !isMissing(word) {
			unknown++
			cells += n
		}
	}
	return unknown == 0 || unknown <= mostWords && len(c.texts)-len(c.words) >= 8*unknown &&
		cells <= c.cells()
}

// alike returns the candidates that read as many cells as the chosen one.
func (c *seenColumn) alike() (list []reading) {
	for _, r := range c.candidates {
		if c.chosen != nil && r != c.chosen && r.missed == c.chosen.missed {
			list = append(list, r.reading)
		}
	}
	return list
}

// nothing reports whether no cell has a value.
func (c *seenColumn) nothing() bool {
	return c.more == 0 && (len(c.texts) == 0 || len(c.texts) == 1 && isMissing(c.order[0]))
}

// missingWords are the usual texts of a missing value, in small letters, and infinities are those
// of numbers only.
var (
	missingWords = []string{"", "?", "-", "--", "---", ".", "..", ":", `\n`, "na", "n/a", "n.a.",
		"#n/a", "#na", "nan", "null", "nil", "none", "missing", "unknown", "(blank)", "(null)", "(none)",
		"<na>", "#value!", "#div/0!", "#ref!", "#num!", "#null!", "#name?", "k. a.", "k.a.", "–", "—",
		"not available", "not applicable"}
	infinities = []string{"inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"}
)

// isMissing reports whether a text usually stands for a missing value.
func isMissing(text string) bool {
	lower := strings.ToLower(text)
	return slices.Contains(missingWords, lower) || slices.Contains(infinities, lower)
}

// MissingTexts returns the usual texts of a missing value, for [records.CSV]. The first one is the
// empty text.
func MissingTexts() (texts []string) {
	for _, word := range missingWords {
		title := word
		if len(word) > 1 {
			title = strings.ToUpper(word[:1]) + word[1:]
		}
		texts = append(texts, word, strings.ToUpper(word), title)
	}
	texts = append(texts, "NaN", "n/A")
	slices.Sort(texts)
	return slices.Compact(texts)
}

// levels returns the texts in alphabetical order or, if all are numbers, in numerical order.
func (c *seenColumn) levels() []string {
	texts := slices.Sorted(maps.Keys(c.texts))
	for _, text := range texts {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return texts
		}
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return texts
}

// number returns the number that a text spells. The text must spell a number.
func number(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// tooMany reports whether the texts are too many to be levels: more than a limit, or hardly any of
// them occurs twice. Texts with control characters are no levels either.
func (c *seenColumn) tooMany(most int) bool {
	n := len(c.texts)
	single := n >= 5 && !c.shape.repeated || n > 10 && 2*n > c.rows-c.missed
	return c.more > 0 || n > most || c.controls || single
}

// shape describes what all texts of a column have in common.
type shape struct {
	met      map[uint64]struct{}
	repeated bool                // whether a text occurs again
	uuids    int                 // texts that are UUIDs
	n        int                 // different texts
	forms    map[int]*commonForm // by length
}

// commonForm is what texts of one length have in common.
type commonForm struct {
	pattern string   // in which # is a digit, ? a letter and * one of both; "" if there is none
	digits  []uint16 // the digits that were met at each place, as bits
	n       int
	high    bool // whether a letter is beyond F
}

var hashSeed = maphash.MakeSeed()

// mostForms bounds the lengths of texts that are told apart.
const mostForms = 16

func (s *shape) add(text string) {
	if s.repeated || len(s.met) == mostMet {
		return // repeated texts name no record, and the form of so many is known
	}
	if s.met == nil {
		s.met, s.forms = map[uint64]struct{}{}, map[int]*commonForm{}
	}
	h := maphash.String(hashSeed, text)
	_, s.repeated = s.met[h]
	s.met[h] = struct{}{}
	if s.n++; isUUID(text) {
		s.uuids++
	}
	f := s.forms[len(text)]
	if f == nil {
		if len(s.forms) == mostForms {
			return
		}
		f = &commonForm{pattern: formOf(text), digits: make([]uint16, len(text))}
		s.forms[len(text)] = f
	}
	f.add(text)
}

func (f *commonForm) add(text string) {
	f.n++
	if f.pattern == "" {
		return
	}
	f.pattern = joined(f.pattern, text)
	for i := range len(text) {
		if c := text[i]; c >= '0' && c <= '9' {
			f.digits[i] |= 1 << (c - '0')
		} else {
			f.high = f.high || c > 'F' && c <= 'Z'
		}
	}
}

// settled returns the pattern. A digit that is the same in all texts belongs to it only if the
// digits that follow take most of their values, as the first digits of counted numbers do not, and
// if enough texts have it.
func (f *commonForm) settled(enough float64) string {
	out := []byte(f.pattern)
	even, most := false, 9
	if f.n < 50 {
		most = 7
	}
	for i := len(out) - 1; i >= 0; i-- {
		switch {
		case out[i] == '#':
			even = bits.OnesCount16(f.digits[i]) >= most
		case out[i] >= '0' && out[i] <= '9' && (!even || capacity(f.pattern) < enough):
			out[i] = '#'
		}
	}
	return string(out)
}

// common returns the pattern of all texts. Of words of digits and letters it is the pattern of the
// most frequent length, if at least half of them have it.
func (s *shape) common(enough float64) string {
	var best *commonForm
	for _, f := range s.forms {
		if best == nil || f.n > best.n || f.n == best.n && f.pattern > best.pattern {
			best = f
		}
	}
	if best == nil || 2*best.n < s.n || !best.high && best.n >= 20 &&
		strings.ContainsRune(best.pattern, '*') { // digits from 0 to F, for which there is no sign
		return ""
	}
	if best.n < s.n && strings.ContainsAny(best.pattern, " .,:;/-()+") {
		return ""
	}
	return best.settled(enough)
}

// formOf returns a text as the pattern of a single text, and "" if it can be none.
func formOf(text string) string {
	if len(text) > 64 || strings.ContainsFunc(text, func(c rune) bool {
		return c > '~' || c < ' ' || strings.ContainsRune(`#?*\`, c)
	}) {
		return ""
	}
	return text
}

// joined returns the pattern of a pattern and another text of the same length. # is a digit, ? a
// letter from A to Z, and * one of both. It returns "" if they have none in common.
func joined(pattern, text string) string {
	digit := func(c byte) bool { return c == '#' || c >= '0' && c <= '9' }
	letter := func(c byte) bool { return c == '?' || c >= 'A' && c <= 'Z' }
	var out []byte
	for i := range len(pattern) {
		x, y := pattern[i], text[i]
		if x == y && y != '#' && y != '?' && y != '*' || x == '#' && digit(y) && y != '#' ||
			x == '?' && letter(y) && y != '?' {
			continue
		}
		if out == nil {
			out = []byte(pattern)
		}
		known := digit(x) || letter(x) || x == '*'
		switch {
		case y == '#' || y == '?' || y == '*' || !known || !digit(y) && !letter(y):
			return ""
		case digit(x) && digit(y):
			out[i] = '#'
		case letter(x) && letter(y):
			out[i] = '?'
		default:
			out[i] = '*'
		}
	}
	if out == nil {
		return pattern
	}
	return string(out)
}

func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if c := text[i] | 0x20; dash != (text[i] == '-') ||
			!dash && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}
