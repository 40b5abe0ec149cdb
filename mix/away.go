package mix

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// away is the state of a release whose records other processes read. One pass computes the sums of
// many mixtures. The samples of these mixtures are drawn before the pass, as positions of records.
type away struct {
	shards []string
	first  [][]int64 // by shard and part, and a last list with the ends; private

	sums    *mechanism.FixedSum // of the current pass; nil before the first pass
	samples []*mechanism.Inclusions
	before  []int // for each part, the number of mixtures of earlier parts in the sums of the pass
	taken   []int // mixtures of each part whose grants have been taken
	rounds  int   // rounds left in the pass
}

// passCells bounds the number of coordinates in the sums of one pass: 64 MiB in every worker and in
// the driver.
var passCells = 1 << 23

// count stores the position of the first record of every shard. It returns an error if the number
// of records is public and differs from the plan's number.
func (x *mixer) count(counts *mechanism.FixedSum) error {
	a, parts := x.away, x.config.parts()
	list := counts.Exact()
	a.first = [][]int64{make([]int64, parts)}
	total := int64(0)
	for shard := range a.shards {
		next := make([]int64, parts)
		for part := range parts {
			n := list[shard*parts+part]
			next[part] = a.first[shard][part] + n
			total += n
		}
		a.first = append(a.first, next)
	}
	return x.counted(total)
}

// positions encodes the positions, eight bytes each.
func (a *away) positions() (out []byte) {
	for _, shard := range a.first {
		for _, n := range shard {
			out = binary.LittleEndian.AppendUint64(out, uint64(n))
		}
	}
	return out
}

// readPositions is the inverse of positions. It returns nil for a wrong length and for positions
// that decrease.
func readPositions(b []byte, shards, parts int) (first [][]int64) {
	if len(b) != 8*(shards+1)*parts {
		return nil
	}
	for shard := range shards + 1 {
		row := make([]int64, parts)
		for part := range row {
			row[part] = int64(binary.LittleEndian.Uint64(b))
			b = b[8:]
			if row[part] < 0 || shard > 0 && row[part] < first[shard-1][part] {
				return nil
			}
		}
		first = append(first, row)
	}
	return first
}

func (x *mixer) read(ctx context.Context, purpose string, state passState,
	secret synth.Secret) ([]*mechanism.FixedSum, error) {
	pass, err := state.pass(purpose, secret)
	if err != nil {
		return nil, err
	}
	p, err := x.run.Read(ctx, pass)
	return p.Sums(), err
}

// counting reads a pass whose last sum counts the records, and returns its first sum.
func (x *mixer) counting(ctx context.Context, purpose string) (*mechanism.FixedSum, error) {
	sums, err := x.read(ctx, purpose, newPassState(x.away.shards), nil)
	if err != nil {
		return nil, err
	}
	return sums[0], x.count(sums[len(sums)-1])
}

// pass reads the sums of the next rounds if the sums of the last pass are used up.
func (x *mixer) pass(ctx context.Context) error {
	a := x.away
	if a == nil || a.rounds > 0 {
		return nil
	}
	if a.first == nil {
		if _, err := x.counting(ctx, purposeCounts); err != nil {
			return err
		}
	}
	order := x.coming()
	state, secret := newPassState(a.shards), passSecret{First: a.positions()}
	state.Centers = x.source.centers
	a.samples, a.before, a.taken = nil, nil, make([]int, len(order))
	total := 0
	for part, grants := range order {
		var sample *mechanism.Inclusions
		var text []byte
		var err error
		if len(grants) > 0 {
			n := a.first[len(a.shards)][part]
			if n > math.MaxInt { // only if int has 32 bits
				return fmt.Errorf("mix: %w", synth.ErrRecords)
			}
			if sample, err = mechanism.PlanInclusions(int(n), grants...); err != nil {
				return err
			}
			if text, err = sample.Secret(); err != nil {
				return err
			}
		}
		a.samples, secret.Samples = append(a.samples, sample), append(secret.Samples, text)
		a.before, state.Mixtures = append(a.before, total), append(state.Mixtures, len(grants))
		total += len(grants)
	}
	text, err := json.Marshal(secret)
	if err != nil {
		return err
	}
	sums, err := x.read(ctx, PurposeMixtures, state, text)
	if err != nil {
		return err
	}
	a.sums = sums[0]
	return nil
}

// coming returns, for each part, the allowances of the next pass's mixtures in the order in which
// their grants will be taken.
func (x *mixer) coming() [][]*mechanism.Allowance {
	order := make([][]*mechanism.Allowance, x.config.parts())
	remaining := make([]int, len(x.lanes))
	for i, l := range x.lanes {
		remaining[i] = l.allowance.Remaining()
	}
	cells := 0
	for more := true; more; {
		more = false
		for i, l := range x.lanes {
			n := min(x.most, remaining[i])
			for range n {
				order[l.part] = append(order[l.part], l.allowance)
			}
			remaining[i] -= n
			cells += n * x.width()
			more = more || remaining[i] > 0
		}
		x.away.rounds++
		more = more && cells < passCells
	}
	return order
}

// next returns the index, within its part, of the next mixture of the pass.
func (a *away) next(part int) int {
	a.taken[part]++
	return a.taken[part] - 1
}

// mixture returns the sum of a mixture and records on its grant which sample was used.
func (a *away) mixture(width, part, number int, g *mechanism.Grant) (*mechanism.FixedSum, error) {
	at := (a.before[part] + number) * width
	return a.sums.Slice(at, at+width), a.samples[part].Use(number, g)
}
