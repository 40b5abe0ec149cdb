package dpgm

import (
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// stateHeader describes a run's state between two releases, without its arrays. Package synth
// stores the marginals.
type stateHeader struct {
	ClipNorm   float64 `json:"clip_norm,omitempty"` // of the clustering
	Iterations int     `json:"iterations"`          // of the clustering
	Steps      int     `json:"steps"`               // of the training
	Training   bool    `json:"training"`            // whether the file contains the state of training
}

// file returns a file of the run's current state, which consists of released numbers and public
// randomness. It returns nil if the run resumes in training and has no trainer yet.
func (r *run) file() (*synth.File, error) {
	if r.resumed && r.trainer == nil {
		return nil, nil
	}
	var sums, counts []float64
	for _, it := range r.history.Iterations {
		sums, counts = append(sums, it.Sums...), append(counts, it.Counts...)
	}
	parts := historyParts(&sums, &counts, len(sums), len(counts))
	if r.trainer != nil {
		parts = append(parts, r.trainingParts(r.trainer)...)
	}
	return synth.NewFile(stateHeader{r.history.ClipNorm, len(r.history.Iterations), r.steps,
		r.trainer != nil}, parts...)
}

func historyParts(sums, counts *[]float64, n, m int) []synth.Part {
	return []synth.Part{synth.FloatsPart("cluster sums", sums, n),
		synth.FloatsPart("cluster counts", counts, m)}
}

// trainingParts returns the file's parts for the state that training changes. The trainer comes
// last, because loading it needs the other parts.
func (r *run) trainingParts(trainer *sgd.Trainer) []synth.Part {
	parts := []synth.Part{network.MatrixPart("parameters", r.Backend, r.trained.Params().Flat)}
	for i, net := range r.nets {
		parts = append(parts, stateParts(i, net)...)
	}
	return append(parts, synth.StatePart("trainer", trainer))
}

// RestoreFrom reads the saved state, except the state of training, which restoreTraining reads
// later.
//
// Errors: synth.ErrFormat.
func (r *run) RestoreFrom(f *synth.File) error {
	var h stateHeader
	if err := f.Decode(&h); err != nil {
		return err
	}
	drawn := r.config.Train.Steps - r.Allowance(PurposeTrain).Remaining()
	if h.Steps < 0 || h.Steps > drawn || !h.Training && h.Steps > 0 {
		return synth.Malformed(fmt.Errorf("%d complete training steps, but only %d were drawn", h.Steps,
			drawn))
	}
	r.steps, r.resumed = h.Steps, h.Training
	if !r.config.clustered() {
		return nil
	}
	return r.restoreHistory(f, h)
}

// restoreHistory reads the releases of the clustering and divides them into iterations. kmeans.Fit
// checks their values.
func (r *run) restoreHistory(f *synth.File, h stateHeader) error {
	features, err := newFeatures(r.config)
	if err != nil {
		return err
	}
	if h.Iterations < 0 || h.Iterations > r.config.Cluster.Iterations {
		return synth.Malformed(fmt.Errorf("%d iterations of clustering; the plan has %d", h.Iterations,
			r.config.Cluster.Iterations))
	}
	k := max(r.config.Cluster.Centers, r.config.Cluster.K)
	var sums, counts []float64
	if err := f.Load(historyParts(&sums, &counts, h.Iterations*k*features.Dim(),
		h.Iterations*k)...); err != nil {
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

// restoreTraining restores the saved state of the networks and the trainer, if there is one.
func (r *run) restoreTraining(trainer *sgd.Trainer) error {
	if !r.resumed {
		return nil
	}
	err := r.Saved().Load(r.trainingParts(trainer)...)
	if m, ok := r.trained.(*mixture); ok {
		m.sync()
	}
	return err
}
