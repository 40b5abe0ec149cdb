package tables

import "github.com/seed7ba64551/privgen/records"

// ahead draws the rows of the next request while the caller decodes and writes those of the last
// one. Rows are drawn one after the other, so they do not depend on the sizes of requests.
type ahead struct {
	draw       func(*records.Nonzeros) // adds a row
	now, other *records.Nonzeros
	from       int           // rows of now that were requested
	drawn      chan struct{} // closed when the rows ahead are drawn; nil if none were begun
	again      bool          // whether this is not the first request
	alone      bool          // whether no row is drawn before it is requested
}

// rows returns the next n rows. They are valid until the next call.
func (a *ahead) rows(n int) *records.Nonzeros {
	if a.drawn != nil {
		<-a.drawn
		a.drawn = nil
	}
	if a.from == a.now.Rows {
		a.now.Reset()
		a.from = 0
	}
	for a.now.Rows < a.from+n {
		a.draw(a.now)
	}
	z, lo, hi := a.now, a.from, a.from+n
	out := &records.Nonzeros{Rows: n, Offsets: z.Offsets[lo : hi+1], Places: z.Places,
		Values: z.Values}
	if z.Labels != nil {
		out.Labels = z.Labels[lo:hi]
	}
	if a.from = hi; a.again && !a.alone && a.from == z.Rows {
		a.begin(n)
	}
	a.again = true
	return out
}

// begin draws n rows into the other memory, beside the caller.
func (a *ahead) begin(n int) {
	a.now, a.other, a.from = a.other, a.now, 0
	rows, drawn := a.now, make(chan struct{})
	rows.Reset()
	a.drawn = drawn
	go func() {
		defer close(drawn)
		for range n {
			a.draw(rows)
		}
	}()
}
