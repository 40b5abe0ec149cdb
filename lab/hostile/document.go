package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// anyDocument changes a few values of a valid JSON document, and sometimes its bytes.
func anyDocument(rng *rand.Rand, sound [][]byte) []byte {
	text := changeDocument(rng, pick(rng, sound), 1+rng.IntN(4))
	if rng.IntN(12) == 0 {
		return changeBytes(rng, bytes.Clone(text), sound)
	}
	return text
}

// changeDocument changes values of a JSON document. A text that is not JSON is returned
// unchanged.
func changeDocument(rng *rand.Rand, text []byte, changes int) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var root any
	if changes == 0 || d.Decode(&root) != nil {
		return text
	}
	var all []place
	for range changes {
		all = all[:0]
		walk(root, func(v any) { root = v }, nil, &all)
		p := pick(rng, all)
		if p.remove != nil && rng.IntN(6) == 0 {
			p.remove()
			continue
		}
		p.put(other(rng, p.value, all))
		if room := largestInput; !fits(root, &room, 500) {
			p.put(p.value) // the document became too large, or a list now contains itself
		}
	}
	out, err := json.Marshal(root)
	if err != nil {
		return text
	}
	return out
}

// A place is the position of a value in a document.
type place struct {
	value  any
	put    func(any)
	remove func() // nil if the value cannot be removed
}

// walk lists the places of a document in a fixed order.
func walk(v any, put func(any), remove func(), all *[]place) {
	*all = append(*all, place{v, put, remove})
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			walk(v[k], func(x any) { v[k] = x }, func() { delete(v, k) }, all)
		}
	case []any:
		for i := range v {
			walk(v[i], func(x any) { v[i] = x }, nil, all)
		}
	}
}

// fits reports whether a value takes at most about room bytes and is at most levels deep. It
// subtracts the bytes from room.
func fits(v any, room *int, levels int) bool {
	*room -= 2
	switch v := v.(type) {
	case string:
		*room -= len(v)
	case map[string]any:
		for k, x := range v {
			if *room -= len(k); *room < 0 || levels == 0 || !fits(x, room, levels-1) {
				return false
			}
		}
	case []any:
		for _, x := range v {
			if *room < 0 || levels == 0 || !fits(x, room, levels-1) {
				return false
			}
		}
	}
	return *room >= 0
}

func sortedKeys(m map[string]any) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// other returns a value to replace an old one, usually of the same kind.
func other(rng *rand.Rand, old any, all []place) any {
	if rng.IntN(6) == 0 {
		return pick(rng, all).value // the value at another place
	}
	switch v := old.(type) {
	case json.Number:
		if rng.IntN(8) != 0 {
			return json.Number(pick(rng, numbers))
		}
	case bool:
		if rng.IntN(4) != 0 {
			return !v
		}
	case string:
		switch rng.IntN(5) {
		case 0:
			return string(changeBytes(rng, []byte(v), [][]byte{[]byte(v)}))
		case 1:
			return strings.Repeat(v+"a", 1+rng.IntN(1<<rng.IntN(14)))
		}
		if s, ok := pick(rng, all).value.(string); ok {
			return s
		}
	case []any:
		return otherList(rng, v)
	case map[string]any:
		if len(v) > 0 && rng.IntN(2) == 0 {
			out := map[string]any{}
			for _, k := range sortedKeys(v) {
				out[k] = v[k]
			}
			out[pick(rng, sortedKeys(v))] = pick(rng, all).value
			return out
		}
	}
	return pick(rng, []any{nil, true, "", "x", json.Number("0"), json.Number("-1"),
		json.Number("1e9"), []any{}, map[string]any{}, []any{nil}, nested(rng.IntN(100)),
		[]any{json.Number("1"), json.Number("2")}})
}

// otherList returns the list after one change: an element removed or repeated, the end cut off, or
// the order shuffled.
func otherList(rng *rand.Rand, v []any) any {
	if len(v) == 0 {
		return []any{json.Number("1")}
	}
	lo := rng.IntN(len(v))
	switch rng.IntN(4) {
	case 0:
		return append(slices.Clone(v[:lo]), v[lo+1:]...)
	case 1:
		return append(slices.Clone(v), slices.Repeat(v[lo:lo+1], 1+rng.IntN(1<<rng.IntN(12)))...)
	case 2:
		return slices.Clone(v[:lo])
	}
	out := slices.Clone(v)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// nested returns a list nested to the given depth.
func nested(depth int) any {
	var v any = []any{}
	for range depth {
		v = []any{v}
	}
	return v
}
