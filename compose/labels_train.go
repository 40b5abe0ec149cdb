package compose

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// newClassifier returns an untrained linear classifier of features.
func (c Labels) newClassifier(be device.Backend, m rff.Features, s records.Schema) (
	*models.Classifier, error) {
	return models.MLP{}.Classifier(be, m.Dim(), s.Classes(), c.Seed)
}

// A learning is the state of the classifier's training.
type learning struct {
	features rff.Features // with scratch memory of private records
	net      *models.Classifier
	trainer  *sgd.Trainer
	be       device.Backend
	steps    int // taken
}

// learning returns the state before the first step. Every error that does not depend on the records
// occurs here.
func (c labelling) learning(r *synth.Run) (l *learning, err error) {
	s := c.schema
	l = &learning{be: r.Backend}
	if l.features, err = c.features(s); err != nil {
		return nil, err
	}
	if l.net, err = c.newClassifier(r.Backend, l.features, s); err != nil {
		return nil, err
	}
	opts := []sgd.Option{sgd.WithBackend(r.Backend), sgd.WithPurpose(purposeClassifier),
		sgd.WithAverage(labelAverage)}
	if a := r.Allowance(purposeClassifier); a != nil {
		opts = append(opts, sgd.WithAllowance(a))
	}
	if l.trainer, err = sgd.New(c.Train, l.net, r.Ledger, opts...); err != nil {
		return nil, fmt.Errorf("labels: classifier: %w", err)
	}
	return l, nil
}

// run takes the steps that are left.
//
// Errors: ctx.Err(); synth.ErrLost if interruptions lost every step.
func (l *learning) run(ctx context.Context, r *synth.Run) error {
	if r.Allowance(purposeClassifier).Remaining() == 0 {
		if l.steps == 0 { // the classifier has learned nothing from the records
			return fmt.Errorf("labels: classifier: %w", synth.ErrLost)
		}
		return nil
	}
	data, err := featuresOf(ctx, r, l.features)
	if err != nil {
		return err
	}
	for step, err := range l.trainer.Steps(ctx, data) {
		if err != nil {
			return fmt.Errorf("labels: classifier: %w", err)
		}
		l.steps++
		r.Report(purposeClassifier, step.Number, step.Of)
	}
	return nil
}

// resume takes up the state that was saved. The argument drawn is the number of steps taken,
// including lost steps.
//
// Errors: synth.ErrFormat.
func (l *learning) resume(r *run, drawn int) error {
	var j learningJSON
	state := func() (any, []synth.Part) { return learningJSON{l.steps}, l.parts() }
	check := func() error {
		if j.Steps < 0 || j.Steps > drawn {
			return fmt.Errorf("a state after %d classifier steps; want at most %d", j.Steps, drawn)
		}
		l.steps = j.Steps
		return nil
	}
	return r.keeps(&j, state, check)
}

type learningJSON struct {
	Steps int `json:"steps"`
}

// parts returns the parts of the training that a checkpoint stores. The trainer comes after the
// parameters, because restoring the trainer reads them.
func (l *learning) parts() []synth.Part {
	return []synth.Part{network.MatrixPart(sectionClassifier, l.be, l.net.Params().Flat),
		synth.StatePart("classifier training", l.trainer)}
}

const sectionClassifier = "classifier"

// released returns a copy of the averaged parameters.
func (l *learning) released() []float32 {
	l.trainer.UseAverage()
	flat := make([]float32, l.net.Params().Len())
	l.be.Download(flat, l.net.Params().Flat)
	return flat
}

// A scorer computes the class probabilities of records with a released classifier. It serves one
// caller at a time.
type scorer struct {
	be       device.Backend
	features rff.Features
	net      *models.Classifier
	classes  int
	stretch  func(levels []float32) // nil for none
	x        device.Matrix

	probabilities device.Matrix // on the host
}

func newScorer(c Labels, be device.Backend, s records.Schema, params []float32) (*scorer, error) {
	m, err := c.features(s)
	if err != nil {
		return nil, err
	}
	net, err := c.newClassifier(be, m, s)
	if err != nil {
		return nil, err
	}
	be.Upload(net.Params().Flat, params)
	chunk := chunkOf(max(m.Dim(), s.Classes()))
	out := &scorer{be: be, features: m, net: net, classes: s.Classes(), x: be.New(chunk, m.Dim()),
		probabilities: device.HostMatrix(chunk, s.Classes(), make([]float32, chunk*s.Classes()))}
	if s.Kind() == records.GreyImage {
		out.stretch = c.contrast().stretch
	}
	return out, nil
}

// each calls f for every record, with the probabilities of the classes and the record's own label.
func (s *scorer) each(data records.Data, f func(p []float32, own int32)) {
	var b device.Batch
	for lo, chunk := 0, s.x.Rows; lo < data.Len(); lo += chunk {
		hi := min(lo+chunk, data.Len())
		data.Range(lo, hi, &b)
		if s.stretch != nil {
			for i := range b.Rows {
				s.stretch(b.Dense.Row(i))
			}
		}
		x, p := s.x.RowRange(0, b.Rows), s.probabilities.RowRange(0, b.Rows)
		s.features.Transform(s.be, b, x)
		s.net.Predict(device.Batch{Rows: b.Rows, Dense: x}, p)
		for i, label := range b.Labels {
			f(p.Row(i), label)
		}
	}
}

// margins returns for each record the probability of its own label minus the largest probability of
// another label.
func (s *scorer) margins(data records.Data) (list []float64) {
	s.each(data, func(p []float32, own int32) { list = append(list, margin(p, int(own))) })
	return list
}

// margin returns p[own] minus the largest other element of p, which has at least two elements.
func margin(p []float32, own int) float64 {
	most := float32(-1)
	for c, v := range p {
		if c != own {
			most = max(most, v)
		}
	}
	return float64(p[own] - most)
}
