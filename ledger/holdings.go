package ledger

import (
	"github.com/seed7ba64551/privgen/internal/param"
)

// holdings counts what the guarantee of a ledger holds; see checkReadable.
type holdings struct {
	seen                         int // entries of the outermost ledger
	entries, text, size, deepest int
	events                       map[string]int // the values of every different event
	before                       *holdings      // of further events
}

// add counts an entry, or a group of parts with an empty key.
func (c *holdings) add(purpose int, key string) {
	values := c.events[key]
	if values == 0 && c.before != nil {
		values = c.before.events[key]
	}
	if values == 0 {
		var depth int
		values, depth = param.Size(key)
		values, c.deepest = values+valuesOfEntry, max(c.deepest, depth)
		c.events[key] = values
	}
	c.entries, c.text, c.size = c.entries+1, c.text+values, c.size+6*purpose+8*len(key)+256
}

// holdings counts the entries of an outermost ledger and returns an empty count of further ones.
func (l *Ledger) holdings() holdings {
	c := &l.held
	if c.events == nil {
		c.events = map[string]int{}
	}
	for _, en := range l.entries[c.seen:] {
		c.add(len(en.purpose), en.key)
	}
	c.seen = len(l.entries)
	out := *c
	out.events, out.before = map[string]int{}, c
	return out
}
