package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/synth"
)

// anyFile changes a valid file in the format of synth.File: its JSON header and its sections. It
// then corrects lengths and checksum, except that one file in twenty stays damaged.
func anyFile(rng *rand.Rand, sound [][]byte) []byte {
	f, err := synth.DecodeFile(bytes.NewReader(pick(rng, sound)))
	if err != nil {
		return nil
	}
	f.Header = changeDocument(rng, f.Header, rng.IntN(4))
	for range rng.IntN(3) {
		changeSections(rng, f)
	}
	if rng.IntN(50) == 0 {
		f.Kind = pick(rng, []string{"", "gan", "merf", "dpgm", "mix", "checkpoint", "mwem", "labels",
			"changes", "x"})
	}
	out := assemble(rng, f)
	if rng.IntN(20) == 0 {
		return changeBytes(rng, out, sound)
	}
	return out
}

// changeSections makes one change to the sections of a file.
func changeSections(rng *rand.Rand, f *synth.File) {
	if len(f.Sections) == 0 {
		f.Sections = []synth.Section{{Name: "parameters", Data: []byte{0, 0, 0, 0}}}
		return
	}
	i := rng.IntN(len(f.Sections))
	s := &f.Sections[i]
	switch rng.IntN(8) {
	case 0:
		s.Data = s.Data[:rng.IntN(len(s.Data)+1)]
	case 1:
		s.Data = append(bytes.Clone(s.Data), make([]byte, pick(rng, []int{1, 4, 8, 1 << 10, 1 << 17}))...)
	case 2:
		f.Sections = slices.Delete(f.Sections, i, i+1)
	case 3:
		f.Sections = append(f.Sections, *s)
	case 4:
		s.Name = pick(rng, f.Sections).Name
	case 5:
		s.Data = pick(rng, f.Sections).Data
	default: // change numbers
		s.Data = bytes.Clone(s.Data)
		for range 1 + rng.IntN(4) {
			changeWord(rng, s.Data)
		}
	}
}

// changeWord writes an extreme number into a list of float32 or float64.
func changeWord(rng *rand.Rand, b []byte) {
	if len(b) < 8 {
		return
	}
	if rng.IntN(2) == 0 {
		at := 4 * rng.IntN(len(b)/4)
		binary.LittleEndian.PutUint32(b[at:], pick(rng, []uint32{0, 0x7f800000, 0xff800000, 0x7fc00000,
			0x7f7fffff, 0xff7fffff, 1, 0x80000000, 0x3f800000, 0xbf800000, rng.Uint32()}))
		return
	}
	at := 8 * rng.IntN(len(b)/8)
	binary.LittleEndian.PutUint64(b[at:], pick(rng, []uint64{0, 0x7ff0000000000000,
		0x7ff8000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 1, 1 << 63, 0x3ff0000000000000,
		rng.Uint64()}))
}

// assemble writes a file as synth.File.Write does, but without its checks. One file in thirty
// states wrong lengths of its sections, with a correct checksum.
func assemble(rng *rand.Rand, f *synth.File) []byte {
	type extent struct {
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
	}
	h := struct {
		Kind     string          `json:"kind"`
		Content  json.RawMessage `json:"content"`
		Sections []extent        `json:"sections"`
	}{Kind: f.Kind, Content: f.Header}
	lie := rng.IntN(30) == 0
	for _, s := range f.Sections {
		e := extent{s.Name, int64(len(s.Data))}
		if lie && rng.IntN(len(f.Sections)) == 0 {
			e.Bytes = pick(rng, []int64{-1, 0, e.Bytes - 1, e.Bytes + 1, 1 << 30, 1 << 40, 1 << 62})
		}
		h.Sections = append(h.Sections, e)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil
	}
	out := binary.LittleEndian.AppendUint64([]byte("privgen\x02"), uint64(len(head)))
	out = append(out, head...)
	for _, s := range f.Sections {
		out = append(out, s.Data...)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}
