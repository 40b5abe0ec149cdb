package mix

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// purposeCounts is the pass that counts the records of every shard and class, where no mean records
// are released that could be summed in the same pass. Nothing is released from it.
const purposeCounts = "positions of records"

// passState is what a pass says in the clear.
type passState struct {
	Run    string   `json:"run"` // a name of its own for each pass
	Shards []string `json:"shards"`
	// Mixtures are how many of each part the pass sums up; nil for other passes.
	Mixtures []int       `json:"mixtures,omitempty"`
	Centers  [][]float32 `json:"centers,omitempty"` // as released
}

// passSecret is what a pass of mixtures is told under seal. Its length does not depend on records.
type passSecret struct {
	// First are the positions of the first record of every shard and part, among those of the part,
	// and one more list with the numbers of records of all shards: eight bytes each.
	First []byte
	// Samples are Inclusions.Secret, of each part.
	Samples [][]byte
}

// newPassState names a pass.
func newPassState(shards []string) passState {
	return passState{Run: rand.Text(), Shards: shards}
}

func (s passState) pass(purpose string, secret synth.Secret) (synth.Pass, error) {
	text, err := json.Marshal(s)
	return synth.Pass{Purpose: purpose, State: text, Secret: secret}, err
}

// Passes are the stages whose sums other processes can make: all of them, if records are sampled by
// Poisson's rule. A subset of a fixed size is drawn from all records together.
func (w *work) Passes() []string {
	if _, subsets := w.config.Sampling.(WithoutReplacement); subsets {
		return nil
	}
	if w.config.Centers.wanted() {
		return []string{PurposeCenters, PurposeMixtures}
	}
	return []string{PurposeMixtures}
}

// Partial returns the sums of a pass over no records.
//
// Errors: *param.Error for a pass that the plan does not make.
func (w *work) Partial(p synth.Pass, _ device.Backend) (*partial.Partial, error) {
	c, err := w.passCounter(p)
	if err != nil {
		return nil, err
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	pass, err := partial.NewPass(systemName, w.config.Schema, w.config.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, w.config.Schema, c, false), nil
}

// passCounter makes the sums of one shard in a pass.
type passCounter struct {
	*work
	purpose string
	state   passState
	source  *source // of no records: what is public about reading them

	sum     *mechanism.FixedSum // of what the stage releases; nil for counts alone
	counts  *mechanism.FixedSum // by shard and part; nil for mixtures
	first   [][]int64           // of mixtures: positions by shard and part, and ends
	samples []*mechanism.Inclusions

	shard int
	seen  []int64 // records of every part so far
}

// mostCounts of shards and parts are moved for every shard.
const mostCounts = 1 << 22

func (w *work) passCounter(p synth.Pass) (*passCounter, error) {
	c := &passCounter{work: w, purpose: p.Purpose, source: openSource(w.config),
		seen: make([]int64, w.config.parts())}
	wrong := param.New("mix.Pass", p.Purpose, "a pass of the plan, with the state that the plan gives it")
	if json.Unmarshal(p.State, &c.state) != nil || len(c.state.Shards) == 0 {
		return nil, wrong
	}
	if err := w.checkShards(c.state.Shards); err != nil {
		return nil, err
	}
	parts := w.config.parts()
	switch {
	case p.Purpose == PurposeMixtures:
		return c, c.mixtures(p.Secret, wrong)
	case p.Purpose == PurposeCenters && w.config.Centers.wanted():
		std := w.centerStd()
		c.sum = mechanism.NewFixedSum(parts*(w.config.dim()+1), mechanism.GridFor(std))
	case p.Purpose != purposeCounts:
		return nil, wrong
	}
	c.counts = mechanism.NewFixedSum(len(c.state.Shards)*parts, 1)
	return c, nil
}

// checkShards refuses shards that cannot be counted.
func (w *work) checkShards(names []string) error {
	most := mostCounts / w.config.parts()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || name == "" {
			return param.New("synth.Shards", name, "names, each of one shard")
		}
		seen[name] = true
	}
	if len(names) == 0 || len(names) > most {
		return param.New("synth.Shards", len(names), fmt.Sprintf("the names of 1 to %d shards", most))
	}
	return nil
}

// width is the number of coordinates of one mixture's sum.
func (w *work) width() int { return w.config.dim() + w.config.labels() }

// mixtures prepares the sums of mixtures, and the samples where the secret is known.
func (c *passCounter) mixtures(secret synth.Secret, wrong error) error {
	total, parts := 0, c.config.parts()
	for _, n := range c.state.Mixtures {
		if n < 0 || n > c.config.Mixtures {
			return wrong
		}
		total += n
	}
	centers := len(c.state.Centers)
	if len(c.state.Mixtures) != parts || total < 1 || total > c.config.Mixtures ||
		(centers > 0) != c.config.Centers.wanted() || centers > 0 && centers != parts {
		return wrong
	}
	for _, row := range c.state.Centers {
		if len(row) != c.config.dim() {
			return wrong
		}
	}
	if centers > 0 {
		c.source.centers = c.state.Centers
	}
	c.sum = mechanism.NewFixedSum(total*c.width(), mechanism.GridFor(c.std))
	if secret == nil {
		return nil // sums of no records, which others are merged into
	}
	var s passSecret
	if json.Unmarshal(secret, &s) != nil || len(s.Samples) != parts {
		return wrong
	}
	if c.first = readPositions(s.First, len(c.state.Shards), parts); c.first == nil {
		return wrong
	}
	for _, text := range s.Samples {
		var x *mechanism.Inclusions
		if len(text) > 0 {
			var err error
			if x, err = mechanism.ReadInclusions(text); err != nil {
				return err
			}
		}
		c.samples = append(c.samples, x)
	}
	return nil
}

// Sums are the stage's, and the counts behind them.
func (c *passCounter) Sums() (list []*mechanism.FixedSum) {
	for _, s := range []*mechanism.FixedSum{c.sum, c.counts} {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// Begin finds the shard's positions.
func (c *passCounter) Begin(shard string) error {
	if c.shard = slices.Index(c.state.Shards, shard); c.shard < 0 {
		return param.New("mix.Pass.Shards", shard, "a shard of the pass")
	}
	if c.counts == nil && c.first == nil {
		return param.New("mix.Pass.Secret", "none", "the samples of the pass")
	}
	clear(c.seen)
	return nil
}

// errShard says no number: it would be one of records.
var errShard = param.New("mix.Pass.Shards", "a shard with other records than before",
	"sources that give the same records, in the same order, whenever a shard is opened")

// End compares the number of records with that of the pass that counted them.
func (c *passCounter) End() error {
	for part, n := range c.seen {
		if c.first != nil && c.first[c.shard][part]+n != c.first[c.shard+1][part] {
			return errShard
		}
	}
	return nil
}

// Add adds records of the shard, in order.
func (c *passCounter) Add(ctx context.Context, data records.Data) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := c.source.of(data)
	if c.counts != nil && c.sum != nil {
		s.sums(c.config.centerGeometry(), c.sum)
	}
	for part, list := range s.parts {
		if c.counts != nil {
			c.counts.AddInt(c.shard*len(s.parts)+part, int64(len(list)))
		} else if err := c.addSampled(s, part, list); err != nil {
			return err
		}
		c.seen[part] += int64(len(list))
	}
	return nil
}

// addSampled adds the records of a part to the mixtures whose samples hold their positions. No
// position may be another shard's: its records would be sampled together with these.
func (c *passCounter) addSampled(s *source, part int, list []int32) error {
	lo := c.first[c.shard][part] + c.seen[part]
	hi := lo + int64(len(list))
	if hi > c.first[c.shard+1][part] {
		return errShard
	}
	if c.samples[part] == nil {
		return nil // no mixture of this part is left
	}
	in := s.reader()
	hits := make([][]int32, s.data.Len()) // mixtures of each row
	var sampled []int32                   // records
	before := 0
	for _, n := range c.state.Mixtures[:part] {
		before += n
	}
	c.samples[part].Each(int(lo), int(hi), func(position, mixture int) {
		record := list[position-int(lo)]
		rows := []int32{record}
		if s.persons != nil {
			rows = s.persons.AppendRows(nil, rows)
		}
		if len(rows) > 0 && len(hits[rows[0]]) == 0 {
			sampled = append(sampled, record)
		}
		for _, row := range rows {
			hits[row] = append(hits[row], int32(before+mixture))
		}
	})
	in.each(part, sampled, func(row int32, features []float32) {
		for _, m := range hits[row] {
			c.addRow(s, c.sum, int(m)*c.width(), row, features)
		}
	})
	return nil
}

// addRow adds a row to the sum of a mixture, which begins at offset.
func (w *work) addRow(s *source, sum *mechanism.FixedSum, offset int, row int32,
	features []float32) {
	share := s.share.Of(int(row)) // see records.RowsOf: norms and signs are all that counts
	sum.AddRowAt(offset, features, share)
	switch label := [1]float64{w.label}; {
	case w.config.ByClass:
		sum.AddRow64At(offset+w.config.dim(), label[:], share)
	case w.config.labels() > 0:
		sum.AddRow64At(offset+w.config.dim()+int(s.label[row]), label[:], share)
	}
}
