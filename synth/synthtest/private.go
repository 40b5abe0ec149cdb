package synthtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// loud is an ε at which noise hides nothing: counts are nearly true, so runs take the branches
// that many records take. At the ε of budgetOf, noise decides every branch.
const loud = 3000

// testReplay checks that runs on neighbouring data differ only in the inputs of mechanisms, with
// much noise and with little. It compares calls in order, so the runs use one worker.
func (s Subject) testReplay(t *testing.T) {
	for i, r := range relations {
		if s.OwnNumbers && r == accountant.ReplaceOne {
			continue // a record that moves to another part renumbers other records
		}
		p, _ := s.quickest(t, budgetOf(r), 0)
		list := kinds(t)
		every := list[len(list)-1].schema // a table with every kind of column
		_, err := s.Plan(every, budgetOf(r), rows)
		for turn, b := range []accountant.Budget{budgetOf(r), {Epsilon: loud, Delta: 1e-5, Relation: r}} {
			s.replay(t, p.Schema(), b, turn, 20)
			if err == nil && turn == i { // one of the two for each relation
				s.replay(t, every, b, turn, 34)
			}
		}
	}
}

// replay runs a plan on one of 2·every pairs of neighbours, which depends on the name of the test:
// the suites of several systems together take most pairs. The second turn takes the pairs halfway
// between those of the first. One run keeps a checkpoint, which takes long to write.
// If the subject has OwnNumbers set, replay takes a quarter of the pairs that differ at their end.
func (s Subject) replay(t *testing.T, schema records.Schema, b accountant.Budget, turn, every int) {
	n := rows
	if b.Relation == accountant.AddOrRemoveOne {
		n = 12
	}
	from := int(crc32.ChecksumIEEE([]byte(t.Name()))) % every
	if s.OwnNumbers {
		from, every = from%2, 2
	}
	plans := map[int]synth.Plan{} // by the number of records, which is public under replace-one
	pairs := slices.DeleteFunc(privacytest.Neighbours(t, schema, b.Relation, n, 3),
		func(pair privacytest.Pair) bool {
			return s.OwnNumbers && strings.Contains(pair.Name, ", in ") // front, or the middle
		})
	for i, pair := range pairs {
		if i%(2*every) != from+turn*every {
			continue
		}
		t.Run(name(schema, b, "/", pair.Name), func(t *testing.T) {
			size := rows
			if b.Relation == accountant.ReplaceOne {
				size = pair.Data.Len()
			}
			p, err := plans[size], error(nil)
			if p == nil {
				p, err = s.Plan(schema, b, size)
			}
			refused := err != nil
			if refused {
				p, err = s.Plan(schema, b, rows)
			} else {
				plans[size] = p
			}
			if err != nil {
				t.Fatal(err)
			}
			keep := i == from+turn*every
			privacytest.Replay[records.Data]{
				Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
					return visible(ctx, t, p, l, d, keep)
				},
				Budget: b, Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1, Refused: refused,
			}.Check(t)
		})
	}
}

// visible runs a plan on one worker and returns all that leaves the run: its progress, records, the
// generator's file, and each state of the checkpoint if keep is set.
func visible(ctx context.Context, t *testing.T, p synth.Plan, l *ledger.Ledger, d records.Data,
	keep bool) (any, error) {
	var seen []any
	path := filepath.Join(tempDir(t), "run")
	opts := []synth.Option{synth.On(device.CPUWith(1)), synth.OnProgress(func(at synth.Progress) {
		seen = append(seen, at.Stage, at.Step, at.Of, at.Epsilon, stateOf(t, path))
	})}
	if keep {
		opts = append(opts, synth.CheckpointEvery(path, 1))
	}
	gen, err := p.FitOn(ctx, l, d, opts...)
	if err != nil {
		return nil, err
	}
	drawn, err := gen.Sample(ctx, 50, synth.Seed(9))
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = gen.Save(&file)
	return append(seen, contents(drawn), file.Bytes(), stateOf(t, path)), err
}

// stateOf returns the content of a checkpoint without its nonce, which is random, and nil if there
// is no checkpoint.
func stateOf(t *testing.T, path string) any {
	t.Helper()
	var head map[string]any
	f, err := readFile(path, &head)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	delete(head, "nonce")
	return []any{head, f.Sections}
}

// readFile reads a checkpoint and its header.
func readFile(path string, header any) (*synth.File, error) {
	whole, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := synth.DecodeFile(bytes.NewReader(whole))
	if err != nil {
		return nil, err
	}
	return f, json.Unmarshal(f.Header, header)
}

// testMemory checks that a generator holds no private row, not even in unexported fields. It must
// not hold the run's backend either, since the backend's scratch memory holds parts of private
// rows.
func (s Subject) testMemory(t *testing.T) {
	for _, k := range kinds(t) {
		p, err := s.Plan(k.schema, budgetOf(accountant.AddOrRemoveOne), rows)
		if err != nil {
			continue
		}
		data := sample(t, k.schema, rows, 1)
		be := device.CPUWith(1)
		gen := fit(t, p, ledger.New(p.Budget()), data, synth.On(be))
		w := walker{seen: map[visit]bool{}, backend: reflect.ValueOf(be).UnsafePointer()}
		w.collect(data)
		if found := w.search(reflect.ValueOf(gen), "generator"); found != "" {
			t.Errorf("%s: a private row at %s", k.name, found)
		}
		again := walker{seen: map[visit]bool{}, backend: w.backend}
		if again.search(reflect.ValueOf(&struct{ hidden any }{be}), "planted") == "" {
			t.Errorf("%s: a planted backend is not found", k.name)
		}
		planted := &struct{ hidden any }{contents(data).Dense.Data}
		if !k.schema.Sparse() && len(w.rows) > 0 {
			again := walker{seen: map[visit]bool{}, rows: w.rows}
			if again.search(reflect.ValueOf(planted), "planted") == "" {
				t.Errorf("%s: a planted row is not found", k.name)
			}
		}
	}
}

// A walker searches memory for private rows.
type walker struct {
	rows    [][]float32
	backend unsafe.Pointer // the run's backend
	seen    map[visit]bool
}

type visit struct {
	at   unsafe.Pointer
	kind reflect.Type
}

// telling is the smallest number of different values that make a row recognisable.
const telling = 4

// collect adds the rows that memory is unlikely to contain by chance: rows with several different
// values.
func (w *walker) collect(data records.Data) {
	b := contents(data)
	if b.Sparse != nil {
		return
	}
	for i := range b.Rows {
		row := b.Dense.Row(i)
		different := map[float32]bool{}
		for _, v := range row {
			if v != 0 && v != 1 {
				different[v] = true
			}
		}
		if len(different) >= telling {
			w.rows = append(w.rows, append([]float32(nil), row...))
		}
	}
}

// search returns the path to a private row, or "" if there is none.
func (w *walker) search(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return ""
		}
		if v.Kind() == reflect.Pointer {
			at := visit{v.UnsafePointer(), v.Type()}
			if at.at == w.backend && w.backend != nil {
				return path + " (the run's backend)"
			}
			if w.seen[at] {
				return ""
			}
			w.seen[at] = true
		}
		return w.search(v.Elem(), path)
	case reflect.Struct:
		for i := range v.NumField() {
			if found := w.search(v.Field(i), path+"."+v.Type().Field(i).Name); found != "" {
				return found
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if found := w.search(v.MapIndex(key), path+"[…]"); found != "" {
				return found
			}
		}
	case reflect.Slice, reflect.Array:
		return w.searchList(v, path)
	}
	return ""
}

func (w *walker) searchList(v reflect.Value, path string) string {
	switch kind := v.Type().Elem().Kind(); {
	case kind == reflect.Float32 || kind == reflect.Float64:
		if w.holds(floats(v)) {
			return path
		}
		return ""
	case kind < reflect.Array || kind == reflect.String: // nothing that holds numbers
		return ""
	}
	for i := range v.Len() {
		if found := w.search(v.Index(i), path+"[]"); found != "" {
			return found
		}
	}
	return ""
}

// floats returns the numbers of an array, or the numbers of a slice up to its capacity.
func floats(v reflect.Value) []float32 {
	if v.Kind() == reflect.Slice && v.Cap() > v.Len() {
		v = v.Slice(0, v.Cap())
	}
	out := make([]float32, v.Len())
	for i := range out {
		out[i] = float32(v.Index(i).Float())
	}
	return out
}

// holds reports whether the numbers contain a private row as a contiguous part.
func (w *walker) holds(list []float32) bool {
	for _, row := range w.rows {
		for lo := 0; lo+len(row) <= len(list); lo++ {
			if slices.Equal(list[lo:lo+len(row)], row) {
				return true
			}
		}
	}
	return false
}
