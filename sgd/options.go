package sgd

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
)

// Option is a setting of a Trainer that cannot change the guarantee.
type Option func(*Trainer)

// WithBackend sets the backend that sums gradients. It must be the backend that holds the network's
// parameters. The default is the CPU.
func WithBackend(be device.Backend) Option { return func(t *Trainer) { t.be = be } }

// WithPurpose names the steps on the ledger. The default is "DP-SGD step".
func WithPurpose(purpose string) Option { return func(t *Trainer) { t.purpose = purpose } }

// WithAllowance makes the trainer take its steps from an existing allowance, such as one returned
// by mechanism.ReserveAll or mechanism.Run.Resume, instead of making a reservation. The allowance
// must be for the configuration's event on the trainer's ledger, and must have at most as many uses
// left as the configuration takes. If it has fewer, the missing steps count as already taken. So a
// run that resumes in another process loses the rest of its epoch or its round of Bands steps:
// neither the steps of records nor the noise that is correlated are ever saved.
func WithAllowance(a *mechanism.Allowance) Option { return func(t *Trainer) { t.allowance = a } }

// WithAverage keeps an exponential moving average of the released parameters. The average is
// post-processing, which costs no privacy, and is often better than the last parameters. The decay
// is warmed up as min(decay, (1+t)/(10+t)) at step t, so that the initial parameters get little
// weight. See Trainer.UseAverage.
func WithAverage(decay float64) Option { return func(t *Trainer) { t.decay = decay } }

// WithMean keeps the mean of the released parameters of all steps from the given step on, instead
// of WithAverage's moving average. This mean is the average of Polyak and Ruppert. It is best if
// the steps fluctuate around one point. See Trainer.UseAverage.
func WithMean(from int) Option { return func(t *Trainer) { t.meanFrom = from } }
