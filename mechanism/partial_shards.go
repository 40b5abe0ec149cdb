package mechanism

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// A Shard names a set of records that is fixed before they are read: a file, or a range of a file.
// Names are public. Every attempt at a shard must read the same records.
type Shard struct {
	Name    string
	Attempt string // distinguishes attempts at one shard; if empty, Seal draws a random one
}

// label describes the records in a sum. All fields except units are public.
type label struct {
	units
	shards  []string // names of the counted shards, in order; nil for none
	unnamed bool     // records of no named shard are counted
	real    bool     // see Partial.Real
}

// A turn is the effect of a merge on the sums.
type turn int

const (
	adds    turn = iota
	keeps        // all of the other's records are already counted
	replace      // all counted records are among the other's
)

// meet returns how the sums of two labels are merged.
//
// Errors: *param.Error if some of the records are in both and others are not.
func (l *label) meet(o *label) (turn, error) {
	common := 0
	for _, name := range o.shards {
		if _, counted := slices.BinarySearch(l.shards, name); counted {
			common++
		}
	}
	switch {
	case common == 0:
		return adds, nil
	case common == len(o.shards) && !o.unnamed:
		return keeps, nil
	case common == len(l.shards) && !l.unnamed:
		return replace, nil
	}
	return adds, param.New("mechanism.Partial.Merge.shards",
		"shards, some of which are counted already",
		"sums whose shards are all counted already, or none of them")
}

// merge changes the label to the label of both sums together.
func (l *label) merge(o *label) (turn, error) {
	t, err := l.meet(o)
	switch {
	case err != nil || t == keeps:
	case t == replace:
		*l = o.copied()
	default:
		l.note(o.units)
		l.shards = append(l.shards, o.shards...)
		slices.Sort(l.shards)
		l.unnamed = l.unnamed || o.unnamed
		l.real = l.real || o.real
	}
	return t, err
}

func (l *label) copied() label {
	c := label{shards: slices.Clone(l.shards), unnamed: l.unnamed, real: l.real}
	c.note(l.units)
	return c
}
