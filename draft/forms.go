package draft

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed7ba64551/privgen/records"
)

// readings makes all ways to read the texts of a column besides the layouts of dates, in the order
// of preference.
var readings = func() (list []func() reading) {
	list = append(list, func() reading { return &anyMoment{} },
		func() reading { return &plainNumber{lo: math.Inf(1), hi: math.Inf(-1), whole: true} })
	for _, f := range []numberForm{{group: ",", point: "."},
		{group: ",", point: ".", pairs: true}, {group: ".", point: ","},
		{group: " ", point: ","}, {group: " ", point: "."}, {group: "'", point: "."},
		{group: "’", point: "."}, {group: "\u00a0", point: ","}, {group: "\u202f", point: ","},
		{point: ","}, {point: "."}} {
		for _, minus := range [][2]string{{}, {"(", ")"}, {"", "-"}, {"−", ""}} {
			list = append(list, func() reading {
				g := f
				g.lo, g.hi, g.minus = math.Inf(1), math.Inf(-1), minus
				return &g
			})
		}
	}
	for _, layout := range clocks {
		list = append(list, func() reading { return &clockForm{dateForm{layout: layout}} })
	}
	return list
}()

// A plainNumber reads numbers without any sign but those of a number.
type plainNumber struct {
	lo, hi      float64
	least, most int64 // of whole numbers
	whole       bool
	overflow    int // texts of numbers beyond float64
	decimals    decimalCount
	length      int // of all texts; -1 if they differ
}

// decimalCount counts the digits after the points of numbers.
type decimalCount struct {
	begun       bool
	least, most int
	zero        bool // whether a text with several decimals ends in 0
}

func (d *decimalCount) add(text string, point string) {
	n := 0
	if _, rest, pointed := strings.Cut(text, point); pointed {
		n = len(rest)
		d.zero = d.zero || n > 1 && rest[n-1] == '0'
	}
	if !allDigits(text[len(text)-min(n, len(text)):]) || n == 0 && strings.ContainsAny(text, "eE") {
		n = mostDecimals + 1 // there is an exponent
	}
	if !d.begun {
		d.begun, d.least = true, n
	}
	d.least, d.most = min(d.least, n), max(d.most, n)
}

// uneven reports whether texts such as 1.9 and 1.10 are no numbers, of which nobody writes one with
// a zero that says nothing, and another one without.
func (d *decimalCount) uneven() bool { return d.zero && d.least < d.most && d.most <= 2 }

// mostDecimals is the largest number of decimals that are taken for a grid, such as cents, and
// mostDigits the largest number of digits that are taken for a number.
const (
	mostDecimals = 8
	mostDigits   = 18
)

func (p *plainNumber) read(text string) bool {
	if isCode(text) || len(text) > mostDigits && allDigits(text) ||
		strings.IndexByte(text, '_') >= 0 || strings.IndexByte(text, 'x') >= 0 ||
		strings.IndexByte(text, 'X') >= 0 || text[0] == '+' {
		return false
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(v, 0):
		p.overflow++
		return true
	case err != nil:
		return false
	}
	v += 0 // turns -0 into 0
	whole, err := int64(v), error(nil)
	if math.Abs(v) >= maxWhole {
		whole, err = strconv.ParseInt(text, 10, 64)
	}
	if !p.decimals.begun {
		p.least, p.most, p.length = whole, whole, len(text)
	}
	if p.length != len(text) {
		p.length = -1
	}
	p.decimals.add(text, ".")
	p.lo, p.hi = min(p.lo, v), max(p.hi, v)
	p.least, p.most = min(p.least, whole), max(p.most, whole)
	p.whole = p.whole && v == math.Trunc(v) && err == nil
	return true
}

func (p *plainNumber) differ() bool { return p.lo < p.hi && !p.decimals.uneven() }

func (p *plainNumber) covers(reading) bool { return false }

func hasDigit(text string) bool {
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			return true
		}
	}
	return false
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// isCode reports whether a text of digits would lose leading zeros as a number.
func isCode(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}

// names reports whether whole numbers are long and equally long, as those that name something are.
func (p *plainNumber) names() bool {
	return p.whole && (p.length >= 9 || p.most-p.least < 0 || p.most-p.least > 1<<62)
}

// column returns the column of the numbers. Those of more than a few cells lie on a grid.
func (p *plainNumber) column(name string, cells int) records.Column {
	c := records.Integer(name, int(p.least), int(p.most))
	if !p.whole {
		c = onGrid(records.Numeric(name, p.lo, p.hi), p.decimals.most, cells)
	}
	if n := p.decimals.most; n > 0 && n == p.decimals.least && n <= mostDecimals && cells >= 20 {
		c = c.WithFormat("1234." + strings.Repeat("0", n))
	}
	return c
}

// onGrid adds the step of decimals, if it is sure.
func onGrid(c records.Column, decimals, cells int) records.Column {
	lo, hi := c.Bounds()
	units := max(math.Abs(lo), math.Abs(hi)) * math.Pow10(decimals)
	if decimals > mostDecimals || cells < 20 || units >= 1<<50 {
		return c
	}
	return c.WithStep(math.Pow10(-decimals))
}

// A numberForm reads numbers with signs around them and between their digits.
type numberForm struct {
	before, after, group, point        string
	minus                              [2]string // around negative numbers
	pairs                              bool
	plus                               bool
	least                              int // decimals
	lo, hi                             float64
	decimals                           int
	grouped, pointed, broken, negative bool // whether some text is; broken: has a fraction
	n, signed                          int  // texts, and those with the signs
	length                             int  // of all texts; -1 if they differ
}

// moneyWords are names of currencies that stand before numbers.
var moneyWords = strings.Fields("USD EUR GBP CHF INR JPY CNY CAD AUD NZD SEK NOK DKK PLN CZK HUF BRL " +
	"MXN ZAR SGD HKD TRY RUB KRW Rs. Rs kr kr. Fr. R lei zł Kč Ft")

// isMoney reports whether a text before a number is the sign or the name of a currency.
func isMoney(text string) bool {
	if text = strings.TrimSpace(text); text == "" || slices.Contains(moneyWords, text) {
		return true
	}
	sign, size := utf8.DecodeLastRuneInString(text)
	letters := text[:len(text)-size]
	return unicode.Is(unicode.Sc, sign) && len(letters) <= 3 &&
		strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// isUnit reports whether a text after a number can be a unit or the name of a currency.
func isUnit(text string) bool {
	return utf8.RuneCountInString(text) <= 12 && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !unicode.IsSpace(r) &&
			!strings.ContainsRune("%‰°/²³.·", r)
	}) && !strings.HasSuffix(text, "/")
}

// cut returns the signs before a number, the number with its sign, and the signs after it.
func cut(text string) (before, core, after string) {
	first, last := 0, len(text)
	for first < last && (text[first] < '0' || text[first] > '9') {
		first++
	}
	for last > first && (text[last-1] < '0' || text[last-1] > '9') {
		last--
	}
	before, core, after = text[:first], text[first:last], text[last:]
	if at := strings.IndexByte(before, '-'); at >= 0 {
		before, core = before[:at]+before[at+1:], "-"+core
	} else {
		before = strings.TrimSuffix(before, "+")
	}
	return before, core, after
}

func (f *numberForm) read(text string) bool {
	text, negative := f.unsigned(text)
	before, core, after := cut(text)
	if negative {
		core = "-" + core
	}
	if before != "" && !isMoney(before) || after != "" && !isUnit(after) ||
		f.before != "" && before != "" && before != f.before ||
		f.after != "" && after != "" && after != f.after || !f.number(core) {
		return false
	}
	if before != "" {
		f.before = before
	}
	if after != "" {
		f.after = after
	}
	if f.n == 0 {
		f.length = len(text)
	}
	if f.length != len(text) {
		f.length = -1
	}
	if f.n++; before != "" || after != "" {
		f.signed++
	}
	return true
}

// unsigned returns the text without a sign of its own kind of negative numbers.
func (f *numberForm) unsigned(text string) (rest string, negative bool) {
	if f.plus = f.plus || strings.HasPrefix(text, "+"); f.minus != [2]string{} {
		if rest, ok := strings.CutPrefix(text, f.minus[0]); ok {
			if rest, ok = strings.CutSuffix(rest, f.minus[1]); ok {
				f.negative = true
				return rest, true
			}
		}
	}
	return text, false
}

// number adds a number without the signs around it.
func (f *numberForm) number(core string) bool {
	whole, rest, pointed := strings.Cut(core, f.point)
	digits, grouped := whole, false
	if f.group != "" && strings.Contains(whole, f.group) {
		groups := strings.Split(whole, f.group)
		for i, g := range groups[1:] {
			if n := len(g); f.pairs && i < len(groups)-2 && n != 2 || (!f.pairs || i == len(groups)-2) &&
				n != 3 {
				return false
			}
		}
		first := strings.TrimPrefix(groups[0], "-")
		if len(first) > 3 || f.pairs && len(groups) > 2 && len(first) > 2 || first == "" ||
			first[0] == '0' {
			return false
		}
		digits, grouped = strings.Join(groups, ""), true
	}
	unsigned := strings.TrimPrefix(digits, "-")
	if isCode(digits) || len(unsigned) == 0 || len(unsigned) > mostDigits || pointed && rest == "" ||
		!allDigits(unsigned) || !allDigits(rest) {
		return false
	}
	if rest != "" {
		digits += "." + rest
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return false
	}
	f.lo, f.hi, f.decimals = min(f.lo, v+0), max(f.hi, v+0), max(f.decimals, len(rest))
	if f.n == 0 {
		f.least = len(rest)
	}
	f.least = min(f.least, len(rest))
	f.grouped, f.pointed = f.grouped || grouped, f.pointed || pointed
	f.broken = f.broken || v != math.Trunc(v)
	return true
}

func (f *numberForm) covers(reading) bool { return false }

// differ reports whether the numbers differ and have some sign. All units have to be there, unlike
// signs of money and of per cent.
func (f *numberForm) differ() bool {
	if f.minus != [2]string{} && !f.negative {
		return false
	}
	if f.before+f.after == "" && !f.grouped && f.point == "." && !f.plus && !f.negative {
		return false // these are plain numbers, if any
	}
	if f.lo >= f.hi || f.group != "" && !f.grouped {
		return false
	}
	if strings.HasPrefix(f.after, " ") {
		return 5*f.signed >= f.n // 12 and 12 kg are the same
	}
	return !strings.ContainsFunc(f.before+f.after, unicode.IsLetter) || 10*f.signed >= 9*f.n
}

// format returns the form as a column's format.
func (f *numberForm) format() string {
	out := f.before + "1"
	if f.grouped {
		out += f.group
	}
	if out += "234"; f.pairs {
		out = f.before + "12" + f.group + "34" + f.group + "567"
	}
	switch {
	case f.pointed && f.least == f.decimals && f.n >= 20:
		out += f.point + strings.Repeat("0", f.least)
	case f.pointed:
		out += f.point + "5"
	}
	out += f.after
	switch {
	case f.plus:
		return "+" + out
	case f.minus != [2]string{}:
		return out + ";" + f.minus[0] + out + f.minus[1]
	}
	return out
}

// names reports whether grouped digits are equally long, as those that name something are.
func (f *numberForm) names() bool {
	return f.grouped && !f.pointed && f.before+f.after == "" && f.length >= 11
}

// column returns the column of the numbers, and what is said of it.
func (f *numberForm) column(name string, alike []reading, r *Recognised) records.Column {
	r.As = fmt.Sprintf("numbers of the form %s", f.format())
	for _, o := range alike {
		o, ok := o.(*numberForm)
		if ok && o.differ() && (o.lo != f.lo || o.hi != f.hi) {
			r.Or = fmt.Sprintf("numbers of the form %s: no text tells them apart", o.format())
		}
	}
	if !f.pointed && math.Abs(f.lo) < maxWhole && math.Abs(f.hi) < maxWhole {
		return records.Integer(name, int(f.lo), int(f.hi)).WithFormat(f.format())
	}
	c := records.Numeric(name, f.lo, f.hi).WithFormat(f.format())
	if !f.broken {
		return onGrid(c, 0, f.n)
	}
	if f.decimals <= 4 {
		return c.WithStep(math.Pow10(-f.decimals))
	}
	return onGrid(c, f.decimals, f.n)
}

// The words of flags, in small letters.
var (
	yesWords = []string{"yes", "y", "true", "t", "1", "ja", "oui", "sí", "si", "sì", "sim", "on"}
	noWords  = []string{"no", "n", "false", "f", "0", "nein", "nee", "non", "não", "off"}
)

// flag returns a flag of more than two texts that say yes or no; ok is false for other texts.
func flag(name string, texts []string) (c records.Column, ok bool) {
	var yes, no []string
	for _, text := range texts {
		switch word := strings.ToLower(text); {
		case slices.Contains(yesWords, word):
			yes = append(yes, text)
		case slices.Contains(noWords, word):
			no = append(no, text)
		default:
			return c, false
		}
	}
	if len(yes) == 0 || len(no) == 0 || len(yes)+len(no) < 3 {
		return c, false
	}
	return records.Flag(name, no[0], yes[0]).WithAlias(no[0], no[1:]...).
		WithAlias(yes[0], yes[1:]...), true
}

// timeNames are parts of the names of columns that hold times.
var timeNames = []string{"time", "date", "stamp", "epoch", "_at", "_ts", "created", "updated"}

// epoch returns the column of numbers that count time since 1970, if the column's name says so.
func (p *plainNumber) epoch(name string, r *Recognised) (_ records.Column, ok bool) {
	word := strings.ToLower(name)
	if !p.whole || word != "ts" && !slices.ContainsFunc(timeNames,
		func(s string) bool { return strings.Contains(word, s) }) {
		return records.Column{}, false
	}
	const from, to = 315532800, 4102444800 // 1980 to 2100
	for format, unit := range map[string]int64{"unix": 1000, "unix-ms": 1} {
		if p.least < from*1000/unit || p.most > to*1000/unit {
			continue
		}
		var m moments
		m.put(time.UnixMilli(p.least * unit).UTC())
		m.put(time.UnixMilli(p.most * unit).UTC())
		m.step = time.Duration(unit) * time.Millisecond
		r.As, r.Or = "times since 1970 ("+format+")", "whole numbers"
		return m.column(name).WithFormat(format), true
	}
	return records.Column{}, false
}
