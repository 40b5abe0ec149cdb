package models

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// A unit is one operation of a network: it turns one row of numbers of each operand into a row of
// out() numbers. A unit stores no data of a batch; a pass does. Rows never meet: row i of every
// value belongs to record i alone.
type unit interface {
	out() int
	// forward sets t.value(n) from the operands of n.
	forward(t *pass, n *node)
	// backward passes the derivative on to the operands. It may change t.delta(n), which a weighted
	// unit turns into the derivative that is a factor of its gradients.
	backward(t *pass, n *node)
}

// A weighted unit has parameters.
type weighted interface {
	unit
	// blocks lists the parameters. Outputs should have the scale of inputs times √gain at first.
	blocks(gain float64) []block
	// uses appends the uses of the parameters in the last pass. Parameter k is block n.first+k.
	uses(t *pass, n *node, list []use) []use
}

// A block describes one matrix of parameters and its initial numbers: Gaussian, or all equal.
type block struct {
	name       string
	rows, cols int
	std        float64
	fill       float32
}

// A node is one value of a graph: a row of numbers for each record.
type node struct {
	unit            // nil for an input
	id      int     // position in the graph
	from    []*node // operands
	width   int     // numbers of a record
	readers int     // number of nodes that read the value
	first   int     // the first parameter
	like    *node   // an earlier node that has the same parameters
	frozen  bool    // the parameters are public and are not trained
	learns  bool    // the value depends on parameters
	over    bool    // the derivative overwrites the value, which is not needed again
	name    string  // of the parameters
	gain    float64 // for initial weights
}

// A graph is the computation of a network: nodes in an order in which operands come first. It has
// no parameters and no memory of its own, so replicas share it.
type graph struct {
	nodes    []*node
	shapes   []device.Shape // of the parameters
	fixed    []device.Shape // of frozen parameters, which come after the others
	blocks   []block
	shared   bool // some nodes have the same parameters
	rowsOnly bool // the first input must not be sparse
	whole    bool // see wholes
	joint    bool // norms take a matrix and its bias together
}

// A sketch is a graph under construction.
type sketch struct {
	*graph
	prefix string  // of the names of parameters
	count  int     // number of units since the prefix was set
	gain   float64 // for initial weights
	closed bool    // the graph is complete
}

func newSketch(prefix string) *sketch {
	return &sketch{graph: &graph{joint: true}, prefix: prefix, gain: 1}
}

// input adds a value that is not computed.
func (g *sketch) input(width int) *node { return g.append(&node{width: width}) }

func (g *sketch) append(n *node) *node {
	if g.closed {
		panic(param.New("models.Value", "a value of another Build", "values of a Build that goes on"))
	}
	n.id = len(g.nodes)
	g.nodes = append(g.nodes, n)
	return n
}

// add adds a unit that reads the given values, with parameters of its own.
func (g *sketch) add(u unit, from ...*node) *node {
	n := g.append(&node{unit: u, from: from, width: u.out(), gain: g.gain,
		name: fmt.Sprintf("%s.%d", g.prefix, g.count)})
	_, n.learns = u.(weighted)
	for k, f := range from {
		f.readers++
		n.learns = n.learns || f.learns
		g.rowsOnly = g.rowsOnly || f.id == 0 && !readsSets(u, k)
	}
	g.count++
	return n
}

// again adds the unit of a node once more, with the same parameters. The rows of both are copied,
// so none may be sparse.
func (g *sketch) again(n, from *node) *node {
	m := g.add(n.unit, from)
	g.rowsOnly = g.rowsOnly || n.from[0].id == 0
	m.frozen = n.frozen
	if m.like = n; n.like != nil {
		m.like = n.like
	}
	return m
}

// readsSets reports whether a unit can read operand k as sparse records.
func readsSets(u unit, k int) bool {
	switch u := u.(type) {
	case *denseUnit:
		return u.places <= 1
	case *reconstruction:
		return k == 1
	}
	return false
}

// done numbers nodes and parameters. Frozen parameters come last.
func (g *sketch) done() *graph {
	g.closed = true
	for _, frozen := range []bool{false, true} {
		for id, n := range g.nodes {
			n.id = id
			u, ok := n.unit.(weighted)
			switch {
			case !ok || n.frozen != frozen:
			case n.like != nil:
				n.first, g.shared = n.like.first, true
			default:
				n.first = len(g.blocks)
				for _, b := range u.blocks(n.gain) {
					g.blocks = append(g.blocks, b)
					shape := device.Shape{Name: n.name + "." + b.name, Rows: b.rows, Cols: b.cols}
					if frozen {
						g.fixed = append(g.fixed, shape)
					} else {
						g.shapes = append(g.shapes, shape)
					}
				}
			}
		}
	}
	return g.graph
}

func (g *graph) last() *node { return g.nodes[len(g.nodes)-1] }

// size returns the number of parameters, saturating at math.MaxInt64.
func (g *graph) size() int64 {
	total := 0.0
	for _, s := range slices.Concat(g.shapes, g.fixed) {
		total += float64(s.Rows) * float64(s.Cols)
	}
	return saturated(total)
}

// weights are the parameters of a graph.
type weights struct {
	params, fixed device.Params
	blocks        []device.Matrix
}

// checksOnly reports whether networks are built only to be checked: the backend has no memory.
func checksOnly(be device.Backend) bool {
	_, ok := be.(interface{ ShapesOnly() })
	return ok
}

// newWeights draws initial parameters.
func newWeights(be device.Backend, g *graph, rng *rand.Rand) *weights {
	w := &weights{fixed: device.NewParams(be, g.fixed...)}
	w.bind(device.NewParams(be, g.shapes...))
	if checksOnly(be) {
		return w
	}
	for i, b := range g.blocks {
		if b.std != 0 {
			uploadNormals(be, w.blocks[i], rng, b.std)
		} else if b.fill != 0 {
			be.Fill(w.blocks[i], b.fill)
		}
	}
	return w
}

func (w *weights) bind(p device.Params) {
	w.params, w.blocks = p, w.blocks[:0]
	for _, part := range []device.Params{p, w.fixed} {
		for i := range part.Shapes {
			w.blocks = append(w.blocks, part.Block(i))
		}
	}
}

// move copies the parameters into p, which holds them from then on.
func (w *weights) move(be device.Backend, p device.Params) {
	be.Apply(device.Identity, p.Flat, w.params.Flat)
	w.bind(p)
}
