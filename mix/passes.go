package mix

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// purposeCounts is the purpose of the pass that counts the records of every shard and class. It
// runs only without mean records, because the pass of mean records counts too. The counts are never
// released.
const purposeCounts = "positions of records"

// passState is the public part of a pass.
type passState struct {
	Run    string   `json:"run"` // a unique name of the pass
	Shards []string `json:"shards"`
	// Mixtures is the number of mixtures of each part for which the pass computes sums; nil in
	// passes without mixtures.
	Mixtures []int       `json:"mixtures,omitempty"`
	Centers  [][]float32 `json:"centers,omitempty"` // released mean records
}

// passSecret is the secret part of a pass of mixtures. Its length does not depend on the records.
type passSecret struct {
	// First has, for every shard and part, the position of the shard's first record among the records
	// of the part. After the last shard it has the total number of records of every part. Each number
	// takes eight bytes.
	First []byte
	// Samples has, for each part, the result of Inclusions.Secret.
	Samples [][]byte
}

// newPassState returns the state of a pass with a new name.
func newPassState(shards []string) passState { return passState{Run: rand.Text(), Shards: shards} }

func (s passState) pass(purpose string, secret synth.Secret) (synth.Pass, error) {
	text, err := json.Marshal(s)
	return synth.Pass{Purpose: purpose, State: text, Secret: secret}, err
}

// Passes returns the stages whose sums other processes can compute. With Poisson sampling these are
// all stages. There are none for subsets of a fixed size, because a subset is drawn from all
// records together.
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
// Errors: *param.Error for a pass of another plan.
func (w *work) Partial(p synth.Pass, _ device.Backend) (*mechanism.Partial, error) {
	c, err := w.passCounter(p)
	if err != nil {
		return nil, err
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	pass, err := mechanism.NewPassID(systemName, w.config.Schema, w.config.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return mechanism.NewPartial(pass, w.config.Schema, c, false), nil
}

// passCounter computes the sums of one shard in a pass.
type passCounter struct {
	*work
	purpose string
	state   passState
	source  *source // without records; prepares the records of a shard

	sum     *mechanism.FixedSum // the sums that the stage releases; nil in the counting pass
	counts  *mechanism.FixedSum // by shard and part; nil for mixtures
	first   [][]int64           // only for mixtures: as away.first
	samples []*mechanism.Inclusions

	shard int
	seen  []int64 // records of every part so far
}

// mostCounts is the largest number of shards times parts. Every shard transfers that many counts.
const mostCounts = 1 << 22

func (w *work) passCounter(p synth.Pass) (*passCounter, error) {
	c := &passCounter{work: w, purpose: p.Purpose, source: openSource(w.config),
		seen: make([]int64, w.config.parts())}
	wrong := param.New("mix.Pass", p.Purpose, "a pass of this plan, with its state unchanged")
	if param.Decode(p.State, &c.state) != nil || len(c.state.Shards) == 0 {
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

// checkShards returns an error if a shard has no name, if two shards have the same name, or if
// there are no shards or too many.
func (w *work) checkShards(names []string) error {
	most := mostCounts / w.config.parts()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || name == "" {
			return param.New("synth.Shards", name, "a different name for each shard, and no empty name")
		}
		seen[name] = true
	}
	if len(names) == 0 || len(names) > most {
		return param.New("synth.Shards", len(names), fmt.Sprintf("the names of 1 to %d shards", most))
	}
	return nil
}

// width returns the number of coordinates of one mixture's sum.
func (w *work) width() int { return w.config.dim() + w.config.labels() }

// mixtures prepares the sums of mixtures and, if there is a secret, the samples.
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
		return nil // the sums of no records, into which other sums are merged
	}
	var s passSecret
	if param.Decode(secret, &s) != nil || len(s.Samples) != parts {
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

// Sums returns the sums of the stage and the counts.
func (c *passCounter) Sums() (list []*mechanism.FixedSum) {
	for _, s := range []*mechanism.FixedSum{c.sum, c.counts} {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// Begin starts the given shard.
func (c *passCounter) Begin(shard string) error {
	if c.shard = slices.Index(c.state.Shards, shard); c.shard < 0 {
		return param.New("mix.Pass.Shards", shard, "a shard of the pass")
	}
	if c.counts == nil && c.first == nil {
		return param.New("mix.Pass.Secret", "none", "the secret of the pass, with its samples")
	}
	clear(c.seen)
	return nil
}

// errShard contains no number, because numbers of records are private.
var errShard = param.New("mix.Pass.Shards",
	"a shard whose records have changed since an earlier pass",
	"shards with the same records in the same order in every pass")

// End returns an error if the shard's number of records differs from the number in the pass that
// counted the records.
func (c *passCounter) End() error {
	for part, n := range c.seen {
		if c.first != nil && c.first[c.shard][part]+n != c.first[c.shard+1][part] {
			return errShard
		}
	}
	return nil
}

// Add adds the next records of the shard.
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

// addSampled adds the records of a part to the mixtures whose samples contain their positions. It
// returns an error if the shard has more records than were counted. The surplus records would have
// the positions of another shard's records and be sampled together with them.
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
	var sampled []int32                   // records in at least one mixture
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

// addRow adds a row to the sum of a mixture, which begins at the given offset.
func (w *work) addRow(s *source, sum *mechanism.FixedSum, offset int, row int32,
	features []float32) {
	share := s.share.Of(int(row)) // the weight of the row; see records.RowsOf
	sum.AddRowAt(offset, features, share)
	switch label := [1]float64{w.label}; {
	case w.config.ByClass:
		sum.AddRow64At(offset+w.config.dim(), label[:], share)
	case w.config.labels() > 0:
		sum.AddRow64At(offset+w.config.dim()+int(s.label[row]), label[:], share)
	}
}
