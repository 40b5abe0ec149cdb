package mechanism

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// magic is the beginning of sealed sums. It is followed by the length of the header, the header,
// the length of the sealed note, the note, and the sums as sealed by Key.sealSums. The header
// is authenticated together with note and sums.
const magic = "privgen sums 2\n"

// header describes sealed sums and is not encrypted. It is the same whether or not the shard has
// records.
type header struct {
	Key     string   `json:"key"`  // public name of the key
	Pass    string   `json:"pass"` // in hexadecimal digits
	Shards  []string `json:"shards"`
	Attempt string   `json:"attempt"`
	Real    bool     `json:"real,omitempty"`
	// Steps are the grids of the sums.
	Steps []float64 `json:"steps"`
}

// note holds the unit of the records that were added up. It is private, because it shows whether
// there are records: sums of no records have no unit.
type note struct {
	Unit  string `json:"unit,omitempty"`
	Of    int    `json:"of,omitempty"`
	Parts []int  `json:"parts,omitempty"` // the parts that contained records, or
	Mask  []byte `json:"mask,omitempty"`  // a bit for each part, if that is shorter
}

// noteSize is the length of a note in bytes if there are at most 5,000 parts. The length of a
// longer note is a multiple of noteSize, and tells roughly how many parts are stated. Callers that
// state every part, with or without records, such as package beam, tell nothing by that.
const noteSize = 1024

// noteOf returns the note of units, padded with spaces.
func noteOf(u units) ([]byte, error) {
	n := note{Unit: u.who, Of: u.parts.of, Parts: slices.Sorted(maps.Keys(u.parts.held))}
	if len(n.Parts) > n.Of/32 {
		n.Parts, n.Mask = nil, make([]byte, (n.Of+7)/8)
		for part := range u.parts.held {
			n.Mask[part/8] |= 1 << (part % 8)
		}
	}
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	size := (len(text) + noteSize - 1) / noteSize * noteSize
	return append(text, bytes.Repeat([]byte{' '}, size-len(text))...), nil
}

// units is the inverse of noteOf. It returns ErrSealed for parts that do not exist or occur twice,
// since noteOf never writes these.
func (n note) units() (u units, err error) {
	if n.Of < 0 || n.Of == 0 && len(n.Parts)+len(n.Mask) > 0 || len(n.Mask) > (n.Of+7)/8 {
		return u, ErrSealed
	}
	for i, b := range n.Mask {
		for bit := range 8 {
			if b>>bit&1 == 1 {
				n.Parts = append(n.Parts, 8*i+bit)
			}
		}
	}
	u.who = n.Unit
	if n.Of == 0 {
		return u, nil
	}
	u.parts = parts{n.Of, map[int]bool{}}
	for _, part := range n.Parts {
		if part < 0 || part >= n.Of || u.parts.held[part] {
			return u, ErrSealed
		}
		u.parts.held[part] = true
	}
	u.who = cmp.Or(u.who, records.UnitRecord)
	return u, nil
}

// Seal encrypts the sums under a key of the pipeline and names them after the shard. Sums that were
// merged from sealed sums keep the names of their shards; for these the name must be empty. No
// record can be added to sums that have a name.
//
// Guarantee: none. The result holds sums without noise. It may be sent and stored where people
// without the key can see it. Only processes that may see the records may open it. The header,
// which is not encrypted, holds only public values: the pass, the shards and the attempt, the
// grids, and the key's public name. It does not reveal whether the shard has records. The unit of
// the records, and the parts that contain them, are encrypted too. Errors: *param.Error for the
// zero key, for the zero value, for a missing name, and for a second name.
func (a *Partial) Seal(k Key, s Shard) ([]byte, error) {
	if !a.made() {
		return nil, refused("mechanism.Partial.Seal")
	}
	if err := a.named(s.Name); err != nil {
		return nil, err
	}
	if s.Attempt == "" {
		s.Attempt = rand.Text()
	}
	about, err := a.header(k, s)
	if err != nil {
		return nil, err
	}
	units, err := noteOf(a.units)
	if err != nil {
		return nil, err
	}
	if units, err = k.SealBytes(about, units); err != nil {
		return nil, err
	}
	sealed, err := k.sealSums(about, a.sums()...)
	if err != nil {
		return nil, err
	}
	whole := binary.LittleEndian.AppendUint32(about, uint32(len(units)))
	return append(append(whole, units...), sealed...), nil
}

// named marks the sums as the sums of the named shard. An empty name keeps the names of their
// shards.
func (a *state) named(name string) error {
	if c, ok := a.counter.(Sharded); ok && !a.closed && name != "" {
		if err := c.End(); err != nil {
			return err
		}
	}
	switch {
	case a.begun != "" && name != "" && name != a.begun:
		return param.New("mechanism.Shard.Name", name,
			fmt.Sprintf("%q, the name given to Begin", a.begun))
	case name == "" && (a.unnamed || len(a.shards) == 0):
		return param.New("mechanism.Shard.Name", name, "the name of the shard whose records were added")
	case name == "":
	case len(a.shards) > 0 && (a.unnamed || len(a.shards) > 1 || a.shards[0] != name):
		return param.New("mechanism.Shard.Name", name,
			"an empty name: the sums have the names of their shards")
	default:
		a.shards, a.unnamed = []string{name}, false
	}
	a.closed = true
	return nil
}

// header returns everything before the note and the sums.
func (a *state) header(k Key, s Shard) ([]byte, error) {
	h := header{Key: k.ID(), Pass: a.pass.String(), Shards: a.shards, Attempt: s.Attempt,
		Real: a.real, Steps: grids(a.sums())}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	about := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(text)))
	return append(about, text...), nil
}

// grids returns the grids of sums. They depend on the noise, which another version or another kind
// of machine could compute with a different last digit.
func grids(sums []*FixedSum) []float64 {
	list := make([]float64, len(sums))
	for i, s := range sums {
		list[i] = s.Grid()
	}
	return list
}

func onAnotherGrid(path string) error {
	return param.New(path, "sums on another grid",
		"sums by the same version on the same kind of machine")
}

// opened returns the sums that were sealed, of the pass and on the grids of a.
func (a *Partial) opened(k Key, sealed []byte) (*Partial, error) {
	h, about, rest, err := split(sealed)
	if err != nil {
		return nil, err
	}
	if h.Key != k.ID() {
		return nil, ErrSealed
	}
	if h.Pass != a.pass.String() {
		return nil, param.New("mechanism.Partial.Open.sealed", "sums of another plan or pass",
			"sums of the pass "+a.pass.String())
	}
	if !slices.Equal(h.Steps, grids(a.sums())) {
		return nil, onAnotherGrid("mechanism.Partial.Open.sealed")
	}
	o := &state{pass: a.pass, schema: a.schema, closed: true}
	if o.label, err = h.label(); err != nil {
		return nil, err
	}
	if o.units, rest, err = openNote(k, about, rest); err != nil {
		return nil, err
	}
	for _, s := range a.sums() {
		o.sealed = append(o.sealed, s.alike())
	}
	if err := k.openSums(about, rest, o.sealed...); err != nil {
		return nil, err
	}
	return &Partial{&hidden{o}}, nil
}

// Open opens sealed sums and merges them into a. They must be of the same pass as a.
//
// Errors: ErrSealed for bytes that are not sealed sums, were changed, or were sealed under another
// key; *param.Error for sums of another pass or plan, and for sums on another grid; the errors of
// Merge.
func (a *Partial) Open(k Key, sealed ...[]byte) error {
	if !a.made() {
		return refused("mechanism.Partial.Open")
	}
	for _, s := range sealed {
		o, err := a.opened(k, s)
		if err != nil {
			return err
		}
		if err := a.Merge(o); err != nil {
			return err
		}
	}
	return nil
}

// openNote reads the note and returns the bytes that follow it.
func openNote(k Key, about, rest []byte) (u units, sums []byte, err error) {
	if len(rest) < 4 {
		return u, nil, ErrSealed
	}
	n := int64(binary.LittleEndian.Uint32(rest))
	if rest = rest[4:]; n > int64(len(rest)) {
		return u, nil, ErrSealed
	}
	text, err := k.OpenBytes(about, rest[:n])
	if err != nil {
		return u, nil, err
	}
	var said note
	if param.Decode(text, &said) != nil {
		return u, nil, ErrSealed
	}
	u, err = said.units()
	return u, rest[n:], err
}

// split divides sealed sums into header and rest. Neither is authenticated yet.
func split(sealed []byte) (h header, about, rest []byte, err error) {
	text, found := bytes.CutPrefix(sealed, []byte(magic))
	if !found || len(text) < 4 {
		return h, nil, nil, ErrSealed
	}
	n := int64(binary.LittleEndian.Uint32(text))
	if text = text[4:]; n > int64(len(text)) {
		return h, nil, nil, ErrSealed
	}
	if param.Decode(text[:n], &h) != nil {
		return h, nil, nil, ErrSealed
	}
	at := len(magic) + 4 + int(n)
	return h, sealed[:at:at], sealed[at:], nil
}

// label returns the label in the header. Names must be in order and without repetition, as Seal
// writes them.
func (h header) label() (label, error) {
	l := label{shards: h.Shards, real: h.Real}
	for i, name := range h.Shards {
		if name == "" || i > 0 && name <= h.Shards[i-1] {
			return l, ErrSealed
		}
	}
	if len(h.Shards) == 0 {
		return l, ErrSealed
	}
	return l, nil
}
