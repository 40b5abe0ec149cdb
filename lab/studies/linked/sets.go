package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/records"
)

// A set is a data set of several tables, read from its public file.
type set struct {
	tables records.Tables
	read   func(path string, t records.Tables) (*records.Linked, error)
}

// sets lists the data sets by name.
var sets = map[string]set{
	"msnbc": {msnbcTables(), readMSNBC},
	"panel": {panelTables(), readPanel},
	"eval":  {evalTables(), readEval},
	"cdnow": {cdnowTables(), readCDNOW},
	"device": {deviceTables(), func(string, records.Tables) (*records.Linked,
		error) {
		return devices(20_000)
	}},
	"shop": {shopTables(), func(string, records.Tables) (*records.Linked,
		error) {
		return shop(20_000)
	}},
}

func schema(columns ...records.Column) records.Schema {
	s, err := records.NewSchema(columns...)
	if err != nil {
		panic(err)
	}
	return s
}

// msnbcTables describes visits of users to pages of 17 categories, in order: a log, whose users
// have no columns.
func msnbcTables() records.Tables {
	var pages []string
	for i := range 17 {
		pages = append(pages, fmt.Sprint(i+1))
	}
	return records.Tables{Name: "users", Key: "user", Children: []records.Tables{{Name: "visits",
		Parents: []string{"user"}, Most: 32, Ordered: true,
		Schema: schema(records.Categorical("page", pages...))}}}
}

func readMSNBC(path string, t records.Tables) (*records.Linked, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	b := newBuilder(t)
	in := bufio.NewScanner(z)
	in.Buffer(nil, 1<<22)
	for line := 0; in.Scan(); line++ {
		if line < 7 {
			continue
		}
		user := fmt.Sprint(line)
		b.add(0, []string{user})
		for _, page := range strings.Fields(in.Text()) {
			b.add(1, []string{user}, page)
		}
	}
	return b.link(in.Err())
}

// panelTables describes persons who answered questions about their health in up to five years.
func panelTables() records.Tables {
	return records.Tables{Name: "persons", Key: "person", Schema: schema(
		records.Flag("female", "0", "1"), records.Categorical("edlevel", "1", "2", "3", "4"),
		records.Integer("born", 1915, 1970)),
		Children: []records.Tables{{Name: "years", Parents: []string{"person"}, Most: 5, Ordered: true,
			Schema: schema(records.Categorical("year", "1984", "1985", "1986", "1987", "1988"),
				records.Integer("docvis", 0, 150).Logarithmic(),
				records.Integer("hospvis", 0, 60).Logarithmic(),
				records.Flag("outwork", "0", "1"), records.Flag("married", "0", "1"),
				records.Flag("kids", "0", "1"), records.Numeric("hhninc", 0, 40),
				records.Flag("self", "0", "1"))}}}
}

func readPanel(path string, t records.Tables) (*records.Linked, error) {
	b := newBuilder(t)
	seen := map[string]bool{}
	err := eachRow(path, func(row map[string]string) {
		var year, age int
		_, _ = fmt.Sscan(row["year"], &year)
		_, _ = fmt.Sscan(row["age"], &age)
		if !seen[row["id"]] {
			seen[row["id"]] = true
			b.add(0, []string{row["id"]}, row["female"], row["edlevel"], year-age)
		}
		b.add(1, []string{row["id"]}, row["year"], row["docvis"], row["hospvis"], row["outwork"],
			row["married"], row["kids"], row["hhninc"], row["self"])
	})
	return b.link(err)
}

// evalTables describes students and their ratings of lectures, without an order.
func evalTables() records.Tables {
	return records.Tables{Name: "students", Key: "student", Schema: schema(
		records.Categorical("studage", "2", "4", "6", "8")),
		Children: []records.Tables{{Name: "ratings", Parents: []string{"student"}, Most: 40,
			Schema: schema(records.Categorical("lectage", "1", "2", "3", "4", "5", "6"),
				records.Flag("service", "0", "1"), records.Categorical("dept", "1", "2", "3", "4", "5", "6",
					"7", "8", "9", "10", "11", "12", "14", "15"),
				records.Ordinal("y", "1", "2", "3", "4", "5"))}}}
}

func readEval(path string, t records.Tables) (*records.Linked, error) {
	b := newBuilder(t)
	seen := map[string]bool{}
	err := eachRow(path, func(row map[string]string) {
		if !seen[row["s"]] {
			seen[row["s"]] = true
			b.add(0, []string{row["s"]}, row["studage"])
		}
		b.add(1, []string{row["s"]}, row["lectage"], row["service"], row["dept"], row["y"])
	})
	return b.link(err)
}

// cdnowTables describes purchases of customers of a shop for CDs, of whom nothing else is known.
func cdnowTables() records.Tables {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	return records.Tables{Name: "customers", Key: "customer", Children: []records.Tables{{
		Name: "purchases", Parents: []string{"customer"}, Most: 20, Ordered: true, Gaps: "date",
		Schema: schema(records.Datetime("date", day(1997, 1, 1), day(1998, 6, 30), 24*time.Hour),
			records.Integer("cds", 1, 40).Logarithmic(),
			records.Numeric("dollars", 0, 600).Logarithmic())}}}
}

func readCDNOW(path string, t records.Tables) (*records.Linked, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := newBuilder(t)
	seen := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		if !seen[f[0]] {
			seen[f[0]] = true
			b.add(0, f[:1])
		}
		b.add(1, f[:1], f[1][:4]+"-"+f[1][4:6]+"-"+f[1][6:], f[2], f[3])
	}
	return b.link(nil)
}

// deviceTables describes generated devices and their readings.
func deviceTables() records.Tables {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	return records.Tables{Name: "devices", Key: "device", Schema: schema(records.Categorical("kind",
		"a", "b", "c")), Children: []records.Tables{{
		Name: "readings", Parents: []string{"device"}, Most: 12, Ordered: true, Gaps: "at",
		Schema: schema(records.Datetime("at", day(2025, 1, 1), day(2026, 1, 1), time.Minute),
			records.Numeric("value", 0, 100))}}}
}

// devices generates n devices. The first reading is at any time of the year, and later ones follow
// after about an hour, a quarter of a day or two days, which depends on the kind.
func devices(n int) (*records.Linked, error) {
	rng := rand.New(rand.NewPCG(8, 8))
	b := newBuilder(deviceTables())
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := range n {
		kind, device := rng.IntN(3), fmt.Sprint(d)
		b.add(0, []string{device}, []string{"a", "b", "c"}[kind])
		at, value := 365*24*60*rng.Float64(), 100*rng.Float64()
		for range 1 + rng.IntN(12) {
			if at > 365*24*60 {
				break
			}
			b.add(1, []string{device}, start.Add(time.Duration(at)*time.Minute), value)
			at += []float64{60, 360, 2880}[kind] * math.Exp(rng.NormFloat64()/2)
			value = min(max(value+10*rng.NormFloat64(), 0), 100)
		}
	}
	return b.link(nil)
}

// shopTables describes generated customers, their orders in time, and the items of an order.
func shopTables() records.Tables {
	return records.Tables{Name: "customers", Key: "customer", Schema: schema(
		records.Categorical("region", "n", "s", "e"), records.Integer("age", 18, 90)),
		Children: []records.Tables{{Name: "orders", Key: "order", Parents: []string{"customer"}, Most: 8,
			Ordered: true, Schema: schema(records.Categorical("state", "a", "b", "c"),
				records.Numeric("amount", 0, 100)),
			Children: []records.Tables{{Name: "items", Parents: []string{"customer", "order"}, Most: 3,
				Schema: schema(records.Flag("gift", "no", "yes"),
					records.Categorical("kind", "book", "toy", "food", "tool"))}}}}}
}

// shop generates n customers. The first state depends on the region, each later one on the one
// before, the amount on the state, and the items on the state of their order.
func shop(n int) (*records.Linked, error) {
	rng := rand.New(rand.NewPCG(7, 7))
	b := newBuilder(shopTables())
	regions, states := []string{"n", "s", "e"}, []string{"a", "b", "c"}
	kinds := []string{"book", "toy", "food", "tool"}
	for c := range n {
		region, customer := rng.IntN(3), fmt.Sprint(c)
		b.add(0, []string{customer}, regions[region], 18+rng.IntN(30)+20*region)
		state := region
		for o := range rng.IntN(4 + 2*region) {
			if o > 0 && rng.Float64() < 0.3 {
				state = (state + 1) % 3
			}
			order := fmt.Sprint(o)
			b.add(1, []string{customer, order}, states[state], 30*float64(state)+20*rng.Float64())
			for range rng.IntN(4) {
				kind := (state + rng.IntN(2)) % 4
				b.add(2, []string{customer, order}, rng.Float64() < 0.1+0.4*float64(state), kinds[kind])
			}
		}
	}
	return b.link(nil)
}

// A builder collects rows with their keys.
type builder struct {
	tables records.Tables
	of     []records.Tables
	rows   []*records.FrameBuilder
	keyed  []records.Keyed
	err    error
}

func newBuilder(t records.Tables) *builder {
	b := &builder{tables: t, of: t.All()}
	for _, own := range b.of {
		var rows *records.FrameBuilder
		if own.Schema.Kind() != 0 {
			rows, _ = records.NewFrameBuilder(own.Schema)
		}
		b.rows = append(b.rows, rows)
		b.keyed = append(b.keyed, records.Keyed{Parents: make([][]string, len(own.Parents))})
	}
	return b
}

// add adds a row of table i with the keys of the rows above it, and its own if it has one.
func (b *builder) add(i int, path []string, values ...any) {
	k := &b.keyed[i]
	for level := range k.Parents {
		k.Parents[level] = append(k.Parents[level], path[level])
	}
	if b.of[i].Key != "" {
		k.Keys = append(k.Keys, path[len(path)-1])
	}
	if b.rows[i] != nil {
		if err := b.rows[i].Append(values...); err != nil {
			b.err = err
		}
	}
}

func (b *builder) link(err error) (*records.Linked, error) {
	if err != nil || b.err != nil {
		return nil, fmt.Errorf("%v, %w", err, b.err)
	}
	for i, rows := range b.rows {
		if rows != nil {
			b.keyed[i].Rows = rows.Frame()
		}
	}
	return records.Link(b.tables, b.keyed...)
}

// eachRow calls visit with each row of a file with a header.
func eachRow(path string, visit func(row map[string]string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := csv.NewReader(f)
	names, err := in.Read()
	if err != nil {
		return err
	}
	for {
		fields, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row := map[string]string{}
		for i, name := range names {
			row[name] = fields[i]
		}
		visit(row)
	}
}
