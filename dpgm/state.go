package dpgm

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// stateHeader is what a checkpoint holds of a run between two releases, but for its numbers. The
// marginals are the frame's.
type stateHeader struct {
	ClipNorm   float64 `json:"clip_norm,omitempty"` // of the clustering
	Iterations int     `json:"iterations"`          // of the clustering
	Steps      int     `json:"steps"`               // of the training
	Training   bool    `json:"training"`            // whether there is state of it
}

const (
	sectionSums    = "cluster sums"
	sectionCounts  = "cluster counts"
	sectionParams  = "parameters"
	sectionTrainer = "trainer"
)

// file is the run as it stands: released numbers and public randomness. There is none to be written
// between the start of a run that goes on with training and the training.
func (r *run) file() (*synth.File, error) {
	if r.resumed && r.trainer == nil {
		return nil, nil
	}
	head, err := json.Marshal(stateHeader{r.history.ClipNorm, len(r.history.Iterations), r.steps,
		r.trainer != nil})
	if err != nil {
		return nil, err
	}
	var sums, counts []float64
	for _, it := range r.history.Iterations {
		sums, counts = append(sums, it.Sums...), append(counts, it.Counts...)
	}
	f := &synth.File{Header: head, Sections: []synth.Section{
		{Name: sectionSums, Data: synth.Floats64(sums)},
		{Name: sectionCounts, Data: synth.Floats64(counts)}}}
	if r.trainer == nil {
		return f, nil
	}
	f.Sections = append(f.Sections,
		synth.Section{Name: sectionParams, Data: network.Floats(r.Backend, r.trained.Params().Flat)},
		synth.Section{Name: sectionTrainer, Data: r.trainer.AppendState(nil)})
	for i, net := range r.nets {
		if s, ok := net.(models.Stateful); ok {
			f.Sections = append(f.Sections, synth.Section{Name: stateOf(i), Data: s.AppendState(nil)})
		}
	}
	return f, nil
}

// restore goes on from the saved state, if there is one; what it holds of training waits for the
// trainer.
//
// Errors: synth.ErrFormat.
func (r *run) restore() error {
	f := r.Saved()
	if f == nil {
		return nil
	}
	var h stateHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return malformed(err)
	}
	drawn := r.config.Train.Steps - r.Allowance(PurposeTrain).Remaining()
	if h.Steps < 0 || h.Steps > drawn || !h.Training && h.Steps > 0 {
		return malformed(fmt.Errorf("%d of %d steps of training", h.Steps, drawn))
	}
	r.steps, r.resumed = h.Steps, h.Training
	if !r.config.clustered() {
		return nil
	}
	return r.restoreHistory(f, h)
}

// restoreHistory cuts the clustering's numbers into iterations; kmeans.Fit checks them.
func (r *run) restoreHistory(f *synth.File, h stateHeader) error {
	features, err := newFeatures(r.config)
	if err != nil {
		return err
	}
	if h.Iterations < 0 || h.Iterations > r.config.Cluster.Iterations {
		return malformed(fmt.Errorf("%d iterations of %d", h.Iterations,
			r.config.Cluster.Iterations))
	}
	k := r.config.Cluster.K
	sums, err := readFloats64(f, sectionSums, h.Iterations*k*features.Dim())
	if err != nil {
		return err
	}
	counts, err := readFloats64(f, sectionCounts, h.Iterations*k)
	if err != nil {
		return err
	}
	r.history.ClipNorm = h.ClipNorm
	for range h.Iterations {
		n := k * features.Dim()
		r.history.Iterations = append(r.history.Iterations,
			kmeans.Iteration{Sums: sums[:n:n], Counts: counts[:k:k]})
		sums, counts = sums[n:], counts[k:]
	}
	return nil
}

func readFloats64(f *synth.File, name string, want int) ([]float64, error) {
	data, err := f.Section(name)
	if err != nil {
		return nil, err
	}
	return synth.ReadFloats64(data, want)
}

// restoreTraining brings networks and trainer to the saved state.
func (r *run) restoreTraining(trainer *sgd.Trainer) error {
	if !r.resumed {
		return nil
	}
	f := r.Saved()
	params := r.trained.Params().Flat
	if err := network.RestoreFloats(f, sectionParams, r.Backend, params); err != nil {
		return err
	}
	if m, ok := r.trained.(*mixture); ok {
		m.sync()
	}
	for i, net := range r.nets {
		s, ok := net.(models.Stateful)
		if !ok {
			continue
		}
		state, err := f.Section(stateOf(i))
		if err != nil {
			return err
		}
		if err := s.SetState(state); err != nil {
			return malformed(err)
		}
	}
	state, err := f.Section(sectionTrainer)
	if err != nil {
		return err
	}
	if err := trainer.SetState(state); err != nil {
		return malformed(err)
	}
	return nil
}
