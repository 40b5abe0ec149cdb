package pool

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Sampler starts a draw of records. Each record comes from a system drawn by the shares, also in a
// draw of one class. The caller enforces the constraints of the draw.
//
// Errors: all errors of the models' Sampler; *param.Error for means that have different schemas,
// such as means of sets by a network and by counts of items.
func (m *Model) Sampler(d synth.Draw) (synth.Sampler, error) {
	c := &drawing{m: m, rng: rand.New(rand.NewPCG(d.Seed, 0x706f6f6c))}
	d.Given, d.Unconstrained, d.OnAccepted = nil, true, nil
	d.Cluster = -1 // a pool is one cluster; the systems' clusters are not its own
	for i, of := range m.models {
		own := d
		own.Seed = d.Seed + uint64(i+1)*0x9e3779b97f4a7c15
		s, err := of.Sampler(own)
		if err != nil {
			return synth.Sampler{}, fmt.Errorf("%s: %w", m.systems[i], err)
		}
		c.of = append(c.of, s)
		if first := c.of[0].Schema; !s.Schema.Equal(first) {
			return synth.Sampler{}, param.New("pool: records of "+m.systems[i], s.Schema,
				"the schema of "+m.systems[0]+"'s: "+records.Difference(s.Schema, first))
		}
	}
	return synth.Sampler{Schema: c.of[0].Schema, Next: c.next, Unaccepted: c.unaccepted}, nil
}

// A drawing is the state of one caller's draw.
type drawing struct {
	m   *Model
	of  []synth.Sampler
	rng *rand.Rand
}

// next draws n records.
func (c *drawing) next(n int) (records.Data, error) {
	from, counts := make([]int, n), make([]int32, len(c.of))
	for i := range from {
		from[i] = c.system()
		counts[from[i]]++
	}
	var drawn []records.Data
	first, total := make([]int32, len(c.of)), int32(0) // of each system's records in the joint list
	for i, s := range c.of {
		first[i] = total
		if counts[i] == 0 {
			continue
		}
		rows, err := s.Next(int(counts[i]))
		if err == nil && rows.Len() != int(counts[i]) {
			err = fmt.Errorf("the model returned %d records, want %d", rows.Len(), counts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.m.systems[i], err)
		}
		drawn, total = append(drawn, rows), total+counts[i]
	}
	order := make([]int32, n)
	for i, system := range from {
		order[i] = first[system]
		first[system]++
	}
	joint, err := records.Concat(c.of[0].Schema, drawn...)
	if err != nil {
		return nil, err
	}
	return take(joint, order)
}

// system draws a system by the shares.
func (c *drawing) system() int {
	u := c.rng.Float64()
	for i, share := range c.m.shares {
		if u -= share; u < 0 {
			return i
		}
	}
	return len(c.m.shares) - 1 // if rounding leaves a sum below 1
}

// take returns the given rows of a result of records.Concat.
func take(data records.Data, rows []int32) (records.Data, error) {
	switch t := data.(type) {
	case *records.Frame:
		return t.Take(rows), nil
	case *records.SetTable:
		return t.Take(rows), nil
	case *records.Table:
		return t.Take(rows), nil
	}
	return nil, fmt.Errorf("pool: synthetic records are %T, want a table", data)
}

// unaccepted returns the number of records that the models themselves did not accept.
func (c *drawing) unaccepted() (n int) {
	for _, s := range c.of {
		if s.Unaccepted != nil {
			n += s.Unaccepted()
		}
	}
	return n
}
