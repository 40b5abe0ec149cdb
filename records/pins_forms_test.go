package records_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// texts draws spellings of numbers, moments and lengths of time.
func (p *pinner) texts() string {
	digits := func(most int) string {
		var b strings.Builder
		for range p.IntN(most + 1) {
			b.WriteByte("0123456789005"[p.IntN(13)])
		}
		return b.String()
	}
	switch p.IntN(8) {
	case 0:
		return p.pick("+", "-", "", "") + digits(25) + p.pick(".", "", ",") + digits(25) +
			p.pick("", "e", "E-", "e+") + digits(3)
	case 1:
		return p.pick("-", "") + digits(19)
	case 2:
		return fmt.Sprintf("%s%04d-%02d-%02d%s%02d:%02d:%02d%s%s", p.pick("", " "), 2020+p.IntN(12),
			p.IntN(14), p.IntN(33), p.pick("T", " ", "t", ""), p.IntN(26), p.IntN(61), p.IntN(61),
			p.pick("", "."+digits(12)), p.pick("", "Z", "+01:00", "-23:59", " UTC", "z", "+1"))
	case 3:
		return fmt.Sprintf("%d-%d-%d", 2025+p.IntN(3), p.IntN(13), p.IntN(40))
	case 4:
		return p.pick("-", "") + digits(4) + p.pick("h", "m", "s", "ms", "us", "ns", "d") + digits(3) +
			p.pick("", "m", "s", "µs", ".5s")
	case 5:
		return fmt.Sprintf("%d:%02d:%02d", p.IntN(30), p.IntN(70), p.IntN(70))
	case 6:
		return p.pick("Inf", "-inf", "nan", "0x1p-2", "1e400", "1e-400", "−3", "٣", "1 000", "1e", ".",
			"-.", "true", "NO", "null", "5e-324", "4.9e-324", "1.7976931348623159e308",
			"9223372036854775808")
	}
	return fmt.Sprint(math.Ldexp(p.Float64()-0.5, p.IntN(140)-70))
}

// TestPinsOfTexts: spellings of values in columns of every kind.
func TestPinsOfTexts(t *testing.T) {
	p := &pinner{t: t, Rand: rand.New(rand.NewPCG(1, 885))}
	from := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []records.Column{records.Numeric("n", -1e6, 1e6),
		records.Numeric("n", -1e300, 1e300), records.Numeric("n", 0, 10).WithStep(0.001),
		records.Numeric("n", 1e-9, 1e9).Logarithmic(),
		records.Numeric("n", -0.5, 0.5).WithStep(1. / 1024), records.Integer("n", -1000, 1000),
		records.Integer("n", math.MinInt32, math.MaxInt32), records.Integer("n", 0, 9).WithMissing(),
		records.Datetime("n", from, from.AddDate(9, 0, 0), time.Second),
		records.Datetime("n", from, from.AddDate(9, 0, 0), time.Nanosecond),
		records.Datetime("n", from, from.AddDate(9, 0, 0), 24*time.Hour).WithParts(3),
		records.Datetime("n", from, from.AddDate(9, 0, 0), 24*time.Hour).WithFormat("02/01/2006"),
		records.Duration("n", -time.Hour, 99*time.Hour, time.Millisecond),
		records.Duration("n", 0, 9*time.Minute, 7*time.Second), records.Flag("n", "no", "yes"),
		records.Ordinal("n", "1", "2", "10"), records.Hashed("n", 1000)} {
		s, err := records.NewSchema(records.Flag("first", "0", "1"), c)
		p.lines = append(p.lines, fmt.Sprint(i, " ", c, err))
		if err != nil {
			continue
		}
		var file, lines strings.Builder
		var values [][]any
		for range 40 {
			text := strings.ReplaceAll(p.texts(), ",", ".")
			fmt.Fprintf(&file, "0,%s\n", text)
			fmt.Fprintf(&lines, "{\"first\":\"1\",\"n\":%s}\n", p.pick(text, `"`+text+`"`))
			values = append(values, []any{"0", []any{text, p.NormFloat64() * 1e3, p.IntN(99), nil,
				float32(p.Float32()), time.Duration(p.Int64N(1e12)), p.rarely(2), int64(p.IntN(9)),
				from.Add(time.Duration(p.Int64N(1e17)))}[p.IntN(9)]})
		}
		f, err := records.CSV{FirstRecord: true}.ReadFrame(strings.NewReader(file.String()), s)
		p.say("file", err, file.String())
		p.frame("cells", f)
		f, err = records.JSONLines{}.ReadFrame(strings.NewReader(lines.String()), s)
		p.say("lines", err)
		p.frame("cells", f)
		f, err = records.FromValues(s, values...)
		if p.say("values", err); err == nil {
			p.frame("cells", f)
		}
		for _, row := range values {
			_, err := records.FromValues(s, row)
			p.say("value", err, fmt.Sprintf("%T", row[1]))
		}
		p.forms(s)
	}
	comparePins(t, "pins_texts.txt", p.lines)
}

// forms reads columns in each of their forms.
func (p *pinner) forms(s records.Schema) {
	const rows = 12
	first := records.Values{Codes: make([]int32, rows), Dictionary: []string{"1", "0"}}
	for i := range first.Codes {
		first.Codes[i] = int32(p.IntN(4) - 1)
	}
	var missing []bool
	if p.rarely(2) {
		for range rows {
			missing = append(missing, p.rarely(5))
		}
	}
	var numbers []float64
	var whole []int64
	var times []time.Time
	var texts []string
	codes := make([]int32, rows)
	for i := range rows {
		numbers = append(numbers, math.Ldexp(p.NormFloat64(), p.IntN(30)-10))
		whole = append(whole, p.Int64N(1<<p.IntN(60))-3)
		times = append(times, pinnedDay.Add(time.Duration(p.Int64N(1e17))))
		texts = append(texts, p.texts())
		codes[i] = int32(p.IntN(6) - 1)
	}
	numbers[3] = math.NaN()
	for i, v := range []records.Values{{Numbers: numbers, Missing: missing}, {Whole: whole},
		{Times: times, Missing: missing}, {Texts: texts, Missing: missing},
		{Codes: codes, Dictionary: append(texts[:3:3], "yes", "2"), Missing: missing},
		{Numbers: numbers, Texts: texts}, {}, {Whole: whole[1:]}} {
		f, err := records.FromColumns(s, first, v)
		if p.say(fmt.Sprint("form ", i), err); err == nil {
			p.frame("cells", f)
		}
	}
}

var scalar = regexp.MustCompile(`:("[^"]*"|-?[0-9.e+]+|true|false)`)

// TestPinsOfSchemas: schemas with one field that is changed in their files.
func TestPinsOfSchemas(t *testing.T) {
	p := &pinner{t: t}
	for seed := range 40 {
		p.Rand = rand.New(rand.NewPCG(uint64(seed), 886))
		s, err := records.NewSchema(p.columns()...)
		if err != nil {
			continue
		}
		s = s.WithConstraints(p.constraints(s)...)
		if seed%8 == 0 {
			s = []records.Schema{records.Sets(9, 3), records.Interval(3, -1, 2), records.Image(4, 3),
				records.RGBImage(2, 2).WithLabels("a", "b"), records.Binary(3)}[seed/8]
		}
		if seed%9 == 0 {
			s = s.ByPerson(3)
		}
		text, err := json.Marshal(s)
		p.lines = append(p.lines, fmt.Sprint(seed, " ", s, err))
		for _, at := range scalar.FindAllIndex(text, -1) {
			var all []any
			for _, v := range []string{"null", "-1", "0", "1e9", `"x"`, `""`, "true"} {
				changed := slices.Concat(text[:at[0]+1], []byte(v), text[at[1]:])
				back, err := records.ReadSchema(bytes.NewReader(changed))
				if all = append(all, err, back.Equal(s)); err == nil {
					all = append(all, records.Difference(back, s))
				}
			}
			p.say(string(text[max(0, at[0]-9):at[0]]), nil, fmt.Sprint(all...))
		}
	}
	comparePins(t, "pins_schemas.txt", p.lines)
}

// TestPinsOfDamage: files of arrays and images with one byte that is changed or cut off.
func TestPinsOfDamage(t *testing.T) {
	p := &pinner{t: t}
	d := must(records.FromBytes(records.Image(2, 3).WithLabels("a", "b"),
		[]uint8{0, 10, 200, 255, 7, 9, 1, 2, 3, 4, 5, 6}, 1, 0))(t)
	plain := d.WithoutLabels()
	var npy, npz, images, labels bytes.Buffer
	for _, err := range []error{records.WriteNPY(&npy, plain), records.WriteNPZ(&npz, d),
		records.WriteIDX(&images, &labels, d)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	damage := func(text []byte, read func(text []byte) (*records.Table, error)) {
		for i := range min(len(text), 140) {
			for _, by := range []byte{1, 0x80} {
				changed := slices.Clone(text)
				changed[i] ^= by
				back, err := read(changed)
				p.vectors(fmt.Sprint("byte ", i, " by ", by), back, err)
			}
			back, err := read(text[:i])
			p.vectors(fmt.Sprint("first ", i), back, err)
		}
	}
	p.lines = append(p.lines, "NPY")
	damage(npy.Bytes(), func(text []byte) (*records.Table, error) {
		return records.ReadNPY(bytes.NewReader(text), plain.Schema())
	})
	p.lines = append(p.lines, "NPZ")
	damage(npz.Bytes(), func(text []byte) (*records.Table, error) {
		return records.ReadNPZ(bytes.NewReader(text), int64(len(text)), d.Schema())
	})
	p.lines = append(p.lines, "images")
	damage(images.Bytes(), func(text []byte) (*records.Table, error) {
		return records.ReadIDX(bytes.NewReader(text), bytes.NewReader(labels.Bytes()), d.Schema())
	})
	p.lines = append(p.lines, "labels")
	damage(labels.Bytes(), func(text []byte) (*records.Table, error) {
		return records.ReadIDX(bytes.NewReader(images.Bytes()), bytes.NewReader(text), d.Schema())
	})
	public := records.DeclarePublic(d.Slice(0, 1))
	p.say("public", nil, public.Overlaps(d), public.Overlaps(plain),
		public.Overlaps(d.Take([]int32{1})), public.Overlaps(records.Binarize(d, 0.5)),
		public.Data().Len())
	p.linkedFields(bank(t))
	p.limits()
	comparePins(t, "pins_damage.txt", p.lines)
}

// linkedFields says what is said of tables with one field that is changed.
func (p *pinner) linkedFields(d records.Tables) {
	copied := func() (c records.Tables) {
		if err := json.Unmarshal(must(json.Marshal(d))(p.t), &c); err != nil {
			p.t.Fatal(err)
		}
		return c
	}
	for i, change := range []func(*records.Tables){
		func(c *records.Tables) {}, func(c *records.Tables) { c.Name = "" },
		func(c *records.Tables) { c.Name = "accounts" }, func(c *records.Tables) { c.Key = "" },
		func(c *records.Tables) { c.Most = 3 }, func(c *records.Tables) { c.Parents = []string{"x"} },
		func(c *records.Tables) { c.Ordered = true }, func(c *records.Tables) { c.Gaps = "region" },
		func(c *records.Tables) { c.Schema = records.Schema{} },
		func(c *records.Tables) { c.Children = nil },
		func(c *records.Tables) { c.Constraints = []records.Constraint{records.Only("region", "n")} },
		func(c *records.Tables) { c.Schema = records.Sets(4, 2) },
		func(c *records.Tables) { c.Children = append(c.Children, c.Children[0]) },
		func(c *records.Tables) { c.Children[0].Name = "other" },
		func(c *records.Tables) { c.Children[0].Key = "customer" },
		func(c *records.Tables) { c.Children[0].Key = "" },
		func(c *records.Tables) { c.Children[0].Most = 0 },
		func(c *records.Tables) { c.Children[0].Most = 1 << 20 },
		func(c *records.Tables) { c.Children[0].Ordered = false },
		func(c *records.Tables) { c.Children[0].Gaps = "limit" },
		func(c *records.Tables) { c.Children[0].Gaps = "open" },
		func(c *records.Tables) { c.Children[0].Parents = nil },
		func(c *records.Tables) { c.Children[0].Parents = []string{"open"} },
		func(c *records.Tables) { c.Children[0].Schema = c.Schema },
		func(c *records.Tables) {
			c.Children[0].Constraints = []records.Constraint{records.Within("limit", 1, 3)}
		},
		func(c *records.Tables) {
			c.Children[0].Constraints = []records.Constraint{records.Unique("limit")}
		},
		func(c *records.Tables) {
			c.Children[0].Constraints = []records.Constraint{records.Only("region of customers", "n")}
		},
		func(c *records.Tables) { c.Children[0].Children[0].Parents[0] = "account" },
		func(c *records.Tables) { c.Children[0].Children[0].Most = -1 },
	} {
		c := copied()
		change(&c)
		err := c.Validate()
		p.say(fmt.Sprint("tables ", i), err, c.Equal(d), d.Equal(c), len(c.All()))
		if err == nil {
			p.say("seen", nil, c.Full())
			for k := range c.All()[1:] {
				s, known, own := c.Seen(k)
				p.say("seen", nil, s, known, own, s.Constraints())
			}
		}
	}
}

// limits says what is said at the ends of what may be declared, and of heads of files.
func (p *pinner) limits() {
	for _, n := range []int{1, 2, 3, 1<<16 - 2, 1<<16 - 1} {
		levels := make([]string, n)
		for i := range levels {
			levels[i] = fmt.Sprint(i)
		}
		_, err := records.NewSchema(records.Flag("first", "0", "1"), records.Categorical("c", levels...))
		_, late := records.NewSchema(records.Flag("first", "0", "1"), records.Label("c", levels...))
		_, last := records.NewSchema(records.Flag("first", "0", "1"), records.Hashed("c", n))
		p.say(fmt.Sprint(n, " levels"), err, late, last)
	}
	for _, n := range []int{30, 31, 32} {
		d := bank(p.t)
		d.Children = nil
		for i := range n {
			d.Children = append(d.Children, records.Tables{Name: fmt.Sprint("t", i), Most: 1,
				Parents: []string{"customer"}, Schema: bank(p.t).Children[0].Schema})
		}
		p.say(fmt.Sprint(n, " tables"), d.Validate())
	}
	d := bank(p.t)
	for depth := range 12 {
		inner := records.Tables{Name: fmt.Sprint("deep", depth), Schema: d.Schema, Key: "customer",
			Children: []records.Tables{d}}
		d = inner
		p.say(fmt.Sprint("depth ", depth), d.Validate())
	}
	s := pets(p.t)
	for _, head := range []string{"", "\n", `"age,kind,kg,home`, `age,"ki"nd,kg,home`, "age,kind,kg",
		"age,kind,kg,home,age", "age,kind,kg,home,", "AGE,kind,kg,home", `"age","kind","kg","home"`,
		"3,cat,4.5,yes", strings.Repeat("a", 1<<20) + ",b"} {
		for _, layout := range []records.CSV{{Header: true}, {},
			{Names: []string{"a", "a"}, Header: true}, {Comma: '"'}, {Comma: '\n', Header: true},
			{Comment: ',', Header: true}} {
			f, err := layout.ReadFrame(strings.NewReader(head+"\n3,cat,4.5,yes\n"), s)
			if err != nil {
				p.say("head", err)
			} else {
				p.say("head", nil, cellsOf(f))
			}
		}
	}
}
