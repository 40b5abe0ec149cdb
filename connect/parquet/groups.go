package parquet

import (
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Groups reads records of a table, one frame for each row group of the file, in order. It reads the
// given number of row groups concurrently, and holds only these groups and the last group that it
// yielded. It ends after the first error. For its errors, see [ReadFrame]. Limits.UnpackedBytes
// applies to the whole file, and the other limits to each group separately.
func Groups(r io.ReaderAt, size int64, s records.Schema, workers int,
	limits ...records.Limits) iter.Seq2[*records.Frame, error] {
	return func(yield func(*records.Frame, error) bool) {
		if workers < 1 {
			yield(nil, param.New("parquet.Groups workers", workers, "a positive number"))
			return
		}
		in, err := open("parquet.Groups", r, size, s, limits)
		if err != nil {
			yield(nil, err)
			return
		}
		allowed := last(limits).ValuesFor(size) / max(1, int64(len(in.columns)))
		for _, rows := range in.sizes {
			if rows > allowed {
				yield(nil, &records.LimitError{Limit: "Values",
					What: "a row group holds more values than the size of the file allows"})
				return
			}
		}
		for values, err := range in.groups(workers) {
			var f *records.Frame
			if err == nil {
				f, err = records.FromColumns(s, values...)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// group is the content of a row group, or the error of reading it.
type group struct {
	values []records.Values
	err    error
}

// groups reads row groups, workers of them concurrently, and yields them in order.
func (in *input) groups(workers int) iter.Seq2[[]records.Values, error] {
	return func(yield func([]records.Values, error) bool) {
		var waiting []chan group
		defer func() { // the file may be closed afterwards
			for _, w := range waiting {
				<-w
			}
		}()
		next := 0
		for {
			for ; next < len(in.sizes) && len(waiting) < workers; next++ {
				w := make(chan group, 1)
				go func(i int) {
					values, err := in.group(i)
					w <- group{values, err}
				}(next)
				waiting = append(waiting, w)
			}
			if len(waiting) == 0 {
				return
			}
			g := <-waiting[0]
			waiting = waiting[1:]
			if !yield(g.values, g.err) || g.err != nil {
				return
			}
		}
	}
}

// group reads one row group.
func (in *input) group(i int) (values []records.Values, err error) {
	defer rescue(&err)
	values = make([]records.Values, len(in.places))
	for j, place := range in.places {
		if place < 0 {
			values[j] = records.Values{Whole: make([]int64, in.sizes[i])}
			continue
		}
		c := in.columns[place]
		own := *c
		own.chunks = c.chunks[i : i+1]
		values[j], err = own.read(int(in.sizes[i]))
		own.close()
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// all returns the frame of all row groups.
func (in *input) all(workers int) (*records.Frame, error) {
	joined := make([]joint, len(in.places))
	for values, err := range in.groups(workers) {
		if err != nil {
			return nil, err
		}
		for j, v := range values {
			joined[j].add(v)
		}
	}
	values := make([]records.Values, len(joined))
	for j := range joined {
		values[j] = joined[j].values
		values[j].Shared = true
	}
	return records.FromColumns(in.schema, values...)
}

// joint is one column, joined from several row groups.
type joint struct {
	values records.Values
	codes  map[string]int32
}

// add appends the column of a group.
func (t *joint) add(v records.Values) {
	t.values.Numbers = append(t.values.Numbers, v.Numbers...)
	t.values.Whole = append(t.values.Whole, v.Whole...)
	t.values.Times = append(t.values.Times, v.Times...)
	t.values.Missing = append(t.values.Missing, v.Missing...)
	if v.Codes == nil {
		return
	}
	if t.codes == nil {
		t.codes = map[string]int32{}
	}
	places := make([]int32, len(v.Dictionary))
	for i, text := range v.Dictionary {
		code, known := t.codes[text]
		if !known {
			code = int32(len(t.values.Dictionary))
			t.values.Dictionary = append(t.values.Dictionary, text)
			t.codes[text] = code
		}
		places[i] = code
	}
	for _, code := range v.Codes {
		if code >= 0 {
			code = places[code]
		}
		t.values.Codes = append(t.values.Codes, code)
	}
}
