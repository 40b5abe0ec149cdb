package draft

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// dateLayouts are the forms of dates that a column's format declares, in the order of preference
// where several fit all texts. A time of day may follow.
var dateLayouts = func() (list []string) {
	for _, date := range []string{"20060102", "2006/01/02", "2006.01.02", "01/02/2006", "1/2/2006",
		"02/01/2006", "2/1/2006", "02.01.2006", "2.1.2006", "02-01-2006", "01-02-2006", "2006-01-02",
		"2006-02-01",
		"02.01.06", "01/02/06", "02/01/06", "02-Jan-2006", "2 Jan 2006", "Jan 2, 2006",
		"2 January 2006", "January 2, 2006"} {
		for _, clock := range []string{"", " 15:04", " 15:04:05", " 3:04 PM", " 3:04:05 PM",
			" 15:04:05 -0700"} {
			if date != "2006-01-02" || strings.ContainsAny(clock, "M-") {
				list = append(list, date+clock)
			}
		}
	}
	return list
}()

// dates describes texts that are moments in some of the layouts.
type dates struct {
	begun bool
	fit   []*dateForm
}

type dateForm struct {
	layout string
	at     moments
}

func (d *dates) add(text string) {
	if !d.begun && len(text) < len("1/2/06") {
		d.begun = true // so that it fits none
	}
	if !d.begun {
		d.begun = true
		for _, layout := range dateLayouts {
			if _, err := time.Parse(layout, text); err == nil {
				d.fit = append(d.fit, &dateForm{layout: layout})
			}
		}
	}
	d.fit = slices.DeleteFunc(d.fit, func(f *dateForm) bool {
		at, err := time.Parse(f.layout, text)
		if err == nil {
			f.at.put(at)
		}
		return err != nil || at.Year() < 1900 || at.Year() > 2100
	})
}

// column returns the column of the first layout that fits, and what is said of it.
func (d *dates) column(name string, r *Recognised) records.Column {
	f := d.fit[0]
	r.As = fmt.Sprintf("dates or times of the form %s, in whole steps of %v", f.layout, f.at.step)
	if strings.HasSuffix(f.layout, "-0700") {
		r.As += ", converted to UTC"
	}
	if i := slices.IndexFunc(d.fit, func(o *dateForm) bool {
		return !o.at.from.Equal(f.at.from) || !o.at.to.Equal(f.at.to)
	}); i >= 0 {
		r.Or = fmt.Sprintf("dates of the form %s: no text tells them apart", d.fit[i].layout)
	} else if f.layout == "20060102" {
		r.Or = "whole numbers"
	}
	return f.at.column(name).WithFormat(f.layout)
}

// A numberForm is a way to spell numbers that may fit all texts of a column.
type numberForm struct {
	before, after, group, point string
	lo, hi                      float64
	decimals                    int
	grouped, pointed            bool // whether some text is
}

// spelled describes texts that are numbers in some of the forms.
type spelled struct {
	begun bool
	fit   []*numberForm
}

// numberSigns may stand around a number, and not between its digits.
const numberSigns = "$€£¥% "

// add adds a text after plain numbers from lo to hi, which are whole or not.
func (s *spelled) add(text string, lo, hi float64, whole bool) {
	before, core, after := cut(text)
	if !s.begun {
		s.begun = true
		for _, f := range []numberForm{{group: ",", point: "."}, {group: ".", point: ","},
			{group: " ", point: ","}, {group: "'", point: "."}, {point: ","}, {point: "."}} {
			if whole || f.point == "." {
				if f.lo, f.hi, f.pointed = lo, hi, !whole; !whole {
					f.decimals = mostDecimals + 1 // unknown
				}
				s.fit = append(s.fit, &f)
			}
		}
	}
	s.fit = slices.DeleteFunc(s.fit, func(f *numberForm) bool {
		return !f.sign(&f.before, before) || !f.sign(&f.after, after) || !f.add(core)
	})
}

// cut returns the signs before a number, the number with its sign, and the signs after it.
func cut(text string) (before, core, after string) {
	sign := ""
	if t, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", t
	}
	core = strings.TrimLeft(text, numberSigns)
	before = text[:len(text)-len(core)]
	text = core
	core = strings.TrimRight(text, numberSigns)
	return before, sign + core, text[len(core):]
}

// sign keeps the sign of a form. All texts have the same one, or none.
func (f *numberForm) sign(kept *string, text string) bool {
	if text == "" || text == *kept {
		return true
	}
	free := *kept == ""
	*kept = text
	return free
}

func (f *numberForm) add(core string) bool {
	whole, rest, pointed := strings.Cut(core, f.point)
	groups := []string{whole}
	if f.group != "" {
		groups = strings.Split(whole, f.group)
	}
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return false
		}
	}
	if len(groups) > 1 && len(strings.TrimPrefix(groups[0], "-")) > 3 {
		return false
	}
	digits := strings.Join(groups, "")
	v, err := strconv.ParseFloat(digits+"."+rest, 64)
	if err != nil || strings.ContainsAny(digits+rest, "xXeEiInN_+.") || pointed && rest == "" {
		return false
	}
	f.lo, f.hi, f.decimals = min(f.lo, v), max(f.hi, v), max(f.decimals, len(rest))
	f.grouped, f.pointed = f.grouped || len(groups) > 1, f.pointed || pointed
	return true
}

// format returns the form as a column's format.
func (f *numberForm) format() string {
	out := f.before + "1"
	if f.grouped {
		out += f.group
	}
	if out += "234"; f.pointed {
		out += f.point + "5"
	}
	return out + f.after
}

// form returns the form that texts which are no plain numbers have; nil if there is none.
func (s *spelled) form() *numberForm {
	for _, f := range s.fit {
		if f.lo < f.hi && (f.grouped || f.group == "") {
			return f
		}
	}
	return nil
}

// column returns the column of the numbers, and what is said of it.
func (s *spelled) column(name string, r *Recognised) records.Column {
	f := s.form()
	r.As = fmt.Sprintf("numbers of the form %s", f.format())
	for _, o := range s.fit {
		if o.lo != f.lo || o.hi != f.hi {
			r.Or = fmt.Sprintf("numbers of the form %s: no text tells them apart", o.format())
		}
	}
	if !f.pointed && math.Abs(f.lo) < maxWhole && math.Abs(f.hi) < maxWhole {
		return records.Integer(name, int(f.lo), int(f.hi)).WithFormat(f.format())
	}
	c := records.Numeric(name, f.lo, f.hi).WithFormat(f.format())
	if f.decimals <= mostDecimals {
		c = c.WithStep(math.Pow10(-f.decimals))
	}
	return c
}

// mostDecimals is the largest number of decimals that are taken for a grid, such as cents.
const mostDecimals = 4

// The words of flags, in small letters.
var (
	yesWords = []string{"yes", "y", "true", "t", "1"}
	noWords  = []string{"no", "n", "false", "f", "0"}
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

// epoch returns the column of numbers that count time since 1970, if the column's name says so.
func (c *seenColumn) epoch(name string, r *Recognised) (_ records.Column, ok bool) {
	word := strings.ToLower(name)
	if !c.whole || !slices.ContainsFunc([]string{"time", "date", "stamp", "epoch", "_at", "_ts"},
		func(s string) bool { return strings.Contains(word, s) }) {
		return records.Column{}, false
	}
	const from, to = 315532800, 4102444800 // 1980 to 2100
	for format, unit := range map[string]int64{"unix": 1000, "unix-ms": 1} {
		if c.least*unit < from*1000 || c.most*unit > to*1000 || c.least == c.most {
			continue
		}
		var m moments
		m.put(time.UnixMilli(c.least * unit).UTC())
		m.put(time.UnixMilli(c.most * unit).UTC())
		m.step = time.Duration(unit) * time.Millisecond
		r.As, r.Or = "times since 1970 ("+format+")", "whole numbers"
		return m.column(name).WithFormat(format), true
	}
	return records.Column{}, false
}
