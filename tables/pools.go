package tables

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/graphical"
)

// Rows are drawn in stratified pools of increasing size.
const (
	firstPool = 1 << 10
	lastPool  = 1 << 16
)

// pools draws the groups of values of one row after the other. When half of a pool is used, the
// next one is drawn beside the caller: pools have random numbers of their own.
type pools struct {
	drawer   *graphical.Drawer
	rng      *rand.Rand
	pool     [][]uint16
	coming   chan [][]uint16 // nil if no pool was begun
	at, size int             // rows of the pool that were used, and all of them
	group    func(j int) int // of the last row used
}

func newPools(d *graphical.Drawer, seed uint64) *pools {
	p := &pools{drawer: d, rng: rand.New(rand.NewPCG(seed, 0x706f6f6c73))}
	p.group = func(j int) int { return int(p.pool[j][p.at-1]) }
	return p
}

// next returns the groups of a row, which are valid until the next call.
func (p *pools) next() (group func(j int) int) {
	if p.at == p.size {
		if p.coming == nil {
			p.begin()
		}
		p.pool, p.coming, p.at = <-p.coming, nil, 0
		p.size = len(p.pool[0])
	}
	if p.at++; p.at == p.size/2 {
		p.begin()
	}
	return p.group
}

// begin draws the next pool.
func (p *pools) begin() {
	size := min(max(4*p.size, firstPool), lastPool)
	p.coming = make(chan [][]uint16, 1)
	go func(coming chan<- [][]uint16) {
		coming <- inOrder(p.drawer.Draw(p.rng, size), p.rng.Perm(size))
	}(p.coming)
}

// inOrder returns rows in another order. It moves one column after the other, since a column fits
// the processor's cache.
func inOrder(columns [][]uint16, order []int) [][]uint16 {
	out := make([][]uint16, len(columns))
	for j, c := range columns {
		out[j] = make([]uint16, len(order))
		for k, row := range order {
			out[j][k] = c[row]
		}
	}
	return out
}
