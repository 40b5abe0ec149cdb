package gan

import (
	"cmp"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// Config describes a whole training run. Every field is public.
type Config struct {
	Schema records.Schema    `json:"-"`
	Budget accountant.Budget `json:"-"`
	// Nominal is the approximate number of records, which must be public. If Nominal is set, the
	// rules in the package documentation choose every field that is zero. Otherwise the comment of
	// each field states the meaning of zero.
	Nominal int `json:"-"`

	// Critic is the critic's network, such as models.MLP or models.CNN.
	Critic    models.CriticArchitecture    `json:"-"`
	Generator models.GeneratorArchitecture `json:"-"` // for example models.MLP
	// Latent is the number of coordinates of a code, without the label.
	Latent  int     `json:"latent"`
	Penalty float64 `json:"penalty,omitzero"` // λ of the gradient penalty; 0 means 10

	// Train configures the training of the critic: sampling probability, number of critic steps, clip,
	// noise and optimiser. Plan calibrates a zero NoiseMultiplier to the budget.
	Train sgd.Config `json:"train"`
	// Clipping, if not zero, replaces Train's clip by clipping by groups or to norms from public data.
	Clipping Clipping `json:"clipping"`

	// CriticSteps is the number of critic steps per generator step; 0 means 4, as in the paper. With
	// noise, tens or even hundreds of critic steps can be useful.
	CriticSteps int `json:"critic_steps"`

	// GeneratorBatch is the number of fakes of a generator step; 0 means 64.
	GeneratorBatch     int           `json:"generator_batch"`
	GeneratorOptimizer sgd.Optimizer `json:"generator_optimizer"` // Train.Optimizer unless set
	// Average is the decay, in [0, 1), of a moving average of the generator's parameters. The
	// average is then released. 0 means that the last parameters are released.
	Average float64 `json:"average,omitzero"`

	// IgnoreLabels ignores the labels of labelled records. The networks do not see them, and synthetic
	// records have no labels.
	IgnoreLabels bool `json:"ignore_labels,omitempty"`

	// Public are public records of the same schema. It is an error if they are known to be the private
	// records (see [records.Public.Overlaps]).
	Public records.Public `json:"-"`
	// WarmSteps is the number of generator steps, each with CriticSteps critic steps, that are taken
	// on public records before training.
	WarmSteps int `json:"warm_steps,omitzero"`

	// Seed is the seed of the public randomness, which draws initial weights, codes of generator steps
	// and batches of public records.
	Seed uint64 `json:"seed,string"`

	choices defaults.Choices // the choices that the default rules made
}

// withDefaults sets zero fields to the defaults that the fields' comments state.
func (c Config) withDefaults() Config {
	c.CriticSteps, c.GeneratorBatch = cmp.Or(c.CriticSteps, 4), cmp.Or(c.GeneratorBatch, 64)
	c.Train.MicroBatch = cmp.Or(c.Train.MicroBatch, 256)
	c.Clipping.Batch, c.Clipping.Scale = cmp.Or(c.Clipping.Batch, 64), cmp.Or(c.Clipping.Scale, 1)
	c.GeneratorOptimizer = cmp.Or(c.GeneratorOptimizer, c.Train.Optimizer)
	c.Penalty = cmp.Or(c.Penalty, 10)
	return c
}

// Limits for configurations and files.
const maxLatent, maxBatch = 1 << 20, 1 << 20

// validate returns every mistake, as joined *param.Error values.
func (c Config) validate() error {
	c, err := c.chosen()
	if err != nil {
		return err
	}
	c = c.withDefaults()
	var k param.Checker
	k.Add(c.Schema.Validate())
	k.Add(c.Budget.Validate())
	k.OK(c.Schema.Kind() != records.MixedTable, "gan.Config.Schema", c.Schema.String(),
		"vectors, images or sets; packages tables and merf have systems for tables")
	k.Add(c.validateTrain())
	c.validateNumbers(&k)
	c.validatePublic(&k)
	if k.Err() == nil {
		k.Add(c.validateNetworks())
	}
	return k.Err()
}

func (c Config) validateTrain() error {
	t := c.train()
	// Another multiplier is valid, so that the other fields can be checked.
	t.NoiseMultiplier = cmp.Or(t.NoiseMultiplier, 1)
	return t.Validate()
}

func (c Config) validateLatent(k *param.Checker) {
	k.OK(c.Latent >= 1 && c.Latent <= maxLatent, "gan.Config.Latent", c.Latent,
		"an integer from 1 to 2^20")
}

func (c Config) validateNumbers(k *param.Checker) {
	c.validateLatent(k)
	k.OK(c.Penalty >= 0 && c.Penalty <= 1e9, "gan.Config.Penalty", c.Penalty,
		"a number from 0 to 1e9; 0 means 10")
	k.OK(!c.Train.RandomAllocation && !c.Train.Shuffled, "sgd.Config.RandomAllocation", true,
		"false: gan draws Poisson samples")
	k.OK(c.CriticSteps > 0, "gan.Config.CriticSteps", c.CriticSteps,
		"a positive integer, or zero for the default")
	k.OK(c.GeneratorBatch > 1 && c.GeneratorBatch <= maxBatch, "gan.Config.GeneratorBatch",
		c.GeneratorBatch, "a number from 2 to 2^20, or zero for the default")
	k.OK(c.Average >= 0 && c.Average < 1, "gan.Config.Average", c.Average, "a decay in [0, 1)")
	k.OK(c.Train.Bands <= 1, "sgd.Config.Bands", c.Train.Bands, "0: a critic's noise is independent")
	k.OK(c.WarmSteps >= 0, "gan.Config.WarmSteps", c.WarmSteps, "a number of steps, zero or more")
	if c.Train.Optimizer != (sgd.Optimizer{}) {
		k.Add(c.GeneratorOptimizer.Validate())
	}
}

func (c Config) validatePublic(k *param.Checker) {
	c.Clipping.validate(k, c)
	needed := c.WarmSteps > 0 || c.Clipping.Adaptive
	public := c.Public.Data()
	if public == nil {
		k.OK(!needed, "gan.Config.Public", nil,
			"public records, which WarmSteps and Clipping.Adaptive need")
		return
	}
	k.OK(needed, "gan.Config.Public", "records",
		"nil, because neither WarmSteps nor Clipping.Adaptive uses them")
	k.OK(public.Schema().Equal(c.Schema), "gan.Config.Public", "another schema",
		"records of the run's schema")
	k.OK(public.Len() > 0, "gan.Config.Public", "no records", "at least one record")
}

// validateNetworks builds both networks, because a valid architecture may not fit the records. The
// mistake must be found before any budget is spent.
func (c Config) validateNetworks() error {
	var k param.Checker
	k.OK(c.Critic != nil, "gan.Config.Critic", nil, "an architecture such as models.MLP")
	k.OK(c.Generator != nil, "gan.Config.Generator", nil, "an architecture such as models.MLP")
	if c.Critic != nil {
		critic, err := c.newCritic(nil)
		k.Add(err)
		if err == nil {
			blocks := critic.Params().Blocks()
			k.OK(c.Clipping.K <= blocks, "gan.Clipping.K", c.Clipping.K,
				fmt.Sprintf("at most the critic's %d parameter blocks", blocks))
		}
	}
	if c.Generator != nil {
		_, err := c.newGenerator(nil)
		k.Add(err)
	}
	return k.Err()
}

// newCritic returns a critic. Without a backend it is only checked: see network.Checking.
func (c Config) newCritic(be device.Backend) (models.Critic, error) {
	if err := network.CheckSize("gan.Config.Critic", c.Critic, c.criticSize); err != nil {
		return nil, err
	}
	if be == nil {
		be = network.Checking(c.Critic)
	}
	return c.Critic.Critic(be, c.Schema.Dim(), c.classes(), c.Seed)
}

// criticSize returns the number of the critic's parameters, or 0 if it is unknown.
func (c Config) criticSize() int64 {
	if sizer, ok := c.Critic.(interface{ CriticSize(in, classes int) int64 }); ok {
		return sizer.CriticSize(c.Schema.Dim(), c.classes())
	}
	return 0
}

func (c Config) newGenerator(be device.Backend) (models.Generator, error) {
	return network.NewGenerator("gan.Config.Generator", be, c.Generator,
		codeWidth(c.Latent, c.classes()), c.Schema, c.Seed+1)
}

// classes returns the number of classes that the networks see, or 0 without labels.
func (c Config) classes() int {
	if c.IgnoreLabels {
		return 0
	}
	return c.Schema.Classes()
}

// codeWidth returns the length of a code with its label.
func codeWidth(latent, classes int) int { return latent + classes }

// train returns the critic's training configuration for package sgd.
func (c Config) train() sgd.Config {
	t := c.Train
	if c.Clipping.Adaptive && t.ClipNorm == 0 && t.Clip == nil {
		t.Clip = sgd.Groups{}
	}
	return t
}
