package mechanism

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// Inclusions holds the Poisson samples of grants that will be taken later. Whether a row is in a
// sample depends only on the row's position. Processes that hold different rows can therefore draw
// their shares of the samples separately. Each process asks for the positions of its own rows, in
// any order and any number of times, and always gets the same answer.
//
// Guarantee: each position is in the sample of each grant independently, with exactly the
// probability of the grant's event, under a key that is drawn for these Inclusions. No two rows may
// have the same position: they would be in the same samples, which no event covers. Inclusions are
// private, as samples are, and print as [private].
type Inclusions struct {
	*hiddenInclusions
}

// hiddenInclusions keeps a key behind two pointers, which package fmt does not follow.
type hiddenInclusions struct {
	*inclusions
}

type inclusions struct {
	probability float64
	n           int // number of rows
	grants      int
	key         [keySize]byte
	source      *entropy.Source
	block       int // positions that share a stream
	drawn       int // number of the block that cells belong to, from 1; 0 for none
	cells       []int32
	rows        [][]int32 // samples of each grant under a test's noise; nil otherwise

	mu     sync.Mutex
	coming []coming // the grants, in the process that adds the noise; nil in others
}

// coming is a grant that has not been taken yet.
type coming struct {
	a    *Allowance
	step uint64
	used bool
}

// These constants bound the arguments of PlanInclusions and the samples that are drawn at a time.
const (
	mostPositions = 1 << 40
	mostGrants    = 1 << 30
	blockRows     = 1 << 10 // most positions that share a stream
	blockDraws    = 1 << 20 // most expected inclusions of a stream
)

// PlanInclusions returns the Poisson samples of the rows [0,n) for the grants that will be taken
// next, one for each element of order. An allowance may occur in order many times. PlanInclusions
// spends nothing: [Inclusions.Use] assigns each sample to its grant.
//
// Errors: [ErrNotCovered] for an event without a Poisson sample, for events of different
// probabilities, for more than 2^40 rows, for no grant, or for more grants than are left.
func PlanInclusions(n int, order ...*Allowance) (*Inclusions, error) {
	if len(order) == 0 || len(order) > mostGrants || n < 0 || int64(n) > mostPositions {
		return nil, fmt.Errorf("%w: %d grants of %s rows: want 1 to 2^30 grants and at most 2^40 rows",
			ErrNotCovered, len(order), redacted)
	}
	first := order[0].terms
	x := &inclusions{probability: first.probability, n: n, grants: len(order)}
	steps, planned := map[*Run]uint64{}, map[*Allowance]int{}
	for _, a := range order {
		switch planned[a]++; {
		case a.terms.sampling != samplePoisson:
			return nil, a.refuse("the event has no Poisson sample")
		case a.terms.probability != first.probability:
			return nil, a.refuse("samples of different probabilities in one plan: want one probability")
		case planned[a] > a.Remaining():
			return nil, a.refuse("samples for more grants than are left in the allowance")
		}
		if _, known := steps[a.run]; !known {
			steps[a.run] = a.run.comingStep()
		}
		x.coming = append(x.coming, coming{a: a, step: steps[a.run]})
		if a.run.tap != nil {
			a.mu.Lock()
			x.rows = append(x.rows, a.coupled(steps[a.run], min(n, math.MaxInt32), nil, nil))
			a.mu.Unlock()
		}
		steps[a.run]++
	}
	_, _ = rand.Read(x.key[:]) // never fails: it ends the program instead
	return x.made()
}

// made chooses the size of blocks and opens the streams.
func (x *inclusions) made() (*Inclusions, error) {
	x.block = blockRows
	for x.block > 1 && (x.block > mostGrants/x.grants ||
		float64(x.block)*float64(x.grants)*x.probability > blockDraws) {
		x.block /= 2
	}
	var err error
	x.source, err = entropy.Keyed(x.key)
	return &Inclusions{&hiddenInclusions{x}}, err
}

// Each calls f with every inclusion of the rows [lo,hi): a row and the number of a grant, counted
// from 0 in the order of PlanInclusions. The order of the calls is fixed but unspecified. Each is
// not safe for concurrent use.
func (x *Inclusions) Each(lo, hi int, f func(row, grant int)) {
	lo, hi = max(lo, 0), min(hi, x.n)
	if x.rows != nil {
		x.eachOf(lo, hi, f)
		return
	}
	for b := lo / x.block; b*x.block < hi; b++ {
		if x.drawn != b+1 {
			bits := x.source.Stream(entropy.Sampler, uint64(b), 0)
			x.cells = sampler.PoissonRows(x.block*x.grants, x.probability, bits, x.cells[:0])
			x.drawn = b + 1
		}
		for _, c := range x.cells {
			if row := b*x.block + int(c)/x.grants; row >= lo && row < hi {
				f(row, int(c)%x.grants)
			}
		}
	}
}

// eachOf implements Each under a test's noise, whose samples are known.
func (x *inclusions) eachOf(lo, hi int, f func(row, grant int)) {
	for grant, rows := range x.rows {
		from := sort.Search(len(rows), func(i int) bool { return int(rows[i]) >= lo })
		for _, row := range rows[from:] {
			if int(row) >= hi {
				break
			}
			f(int(row), grant)
		}
	}
}

// Use assigns the sample with number grant to g. The sample must have been planned for g. Each
// sample can be used once.
//
// Errors: [ErrNotCovered] for another grant, for the second use of a sample, for a grant that
// already has a sample, and if x was read by ReadInclusions. The grant then releases nothing.
func (x *Inclusions) Use(grant int, g *Grant) error {
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if grant < 0 || grant >= len(x.coming) || x.coming[grant].used || x.coming[grant].a != g.a ||
		x.coming[grant].step != g.step {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.refused = g.a.refuse("the sample was planned for another grant")
		return g.refused
	}
	x.coming[grant].used = true
	if !g.takeSample(samplePoisson) {
		return g.refused
	}
	if x.rows != nil {
		g.tellSample(g.a.terms.probability, x.n, x.rows[grant])
	}
	return nil
}

// inclusionsJSON is the form in which Inclusions are sent to other processes.
type inclusionsJSON struct {
	Key    []byte
	N      []byte // eight bytes, so that the length does not tell the number
	Grants int
	Bits   []byte    // bits of the probability
	Rows   [][]int32 `json:",omitempty"` // samples under a test's noise
}

// Secret returns plain bytes with which another process can draw its share of the samples. Seal
// them before sending them. Their length depends only on the number of grants, except under a
// test's noise.
//
// Errors: the errors of encoding/json; these numbers cause none.
func (x *Inclusions) Secret() ([]byte, error) {
	return json.Marshal(inclusionsJSON{Key: x.key[:], Grants: x.grants, Rows: x.rows,
		N:    binary.LittleEndian.AppendUint64(nil, uint64(x.n)),
		Bits: binary.LittleEndian.AppendUint64(nil, math.Float64bits(x.probability))})
}

// errInclusions contains no number from the bytes that were read, since these may be private.
var errInclusions = errors.New("mechanism.ReadInclusions.secret: want bytes that " +
	"Inclusions.Secret returned")

// ReadInclusions is the inverse of [Inclusions.Secret]. The result draws samples, but has no
// grants to assign them to.
//
// Errors: an error for bytes that Secret did not return.
func ReadInclusions(secret []byte) (*Inclusions, error) {
	var j inclusionsJSON
	if param.Decode(secret, &j) != nil || len(j.Key) != keySize || len(j.N) != 8 ||
		len(j.Bits) != 8 {
		return nil, errInclusions
	}
	n := binary.LittleEndian.Uint64(j.N)
	q := math.Float64frombits(binary.LittleEndian.Uint64(j.Bits))
	if n > min(mostPositions, math.MaxInt) || j.Grants < 1 || j.Grants > mostGrants ||
		!(q >= 0 && q <= 1) || j.Rows != nil && len(j.Rows) != j.Grants {
		return nil, errInclusions
	}
	for _, rows := range j.Rows {
		if !slices.IsSorted(rows) {
			return nil, errInclusions
		}
	}
	x := &inclusions{probability: q, n: int(n), grants: j.Grants, rows: j.Rows}
	copy(x.key[:], j.Key)
	return x.made()
}

// Format writes "[private]" for every verb.
func (Inclusions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (Inclusions) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (Inclusions) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Exact returns the sum without noise, in grid steps. It is meant for counts, in a process that
// plans how records are read.
//
// Guarantee: none. The numbers are private, and nothing that is released may depend on them.
func (s *FixedSum) Exact() []int64 {
	if !s.made() {
		return nil
	}
	return slices.Clone(s.sum)
}
