package augment

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Config describes another system and the choice among changes of its synthetic records. Every
// field is public.
type Config struct {
	// Budget is the budget of the other system and the choice together.
	Budget accountant.Budget
	// Of is the other system's plan with its own budget; Within sets it. The system's synthetic
	// records must have labels.
	Of synth.Plan
	// Candidates are the possible changes; nil means Defaults. If a run loses its choice, it uses
	// the first candidate.
	Candidates []Candidate
	// Share is the part of ε that the choice costs, in (0, 1); 0 means DefaultShare.
	Share float64
	// Records is the number of synthetic records that every classifier learns from; 0 means
	// DefaultRecords.
	Records int
	// Seed is the seed of these records, of the classifiers and of the distortions.
	Seed uint64
}

// Defaults of Config. At ε = 1 and 50,000 records, a candidate is e^7.5 times as likely to be
// chosen as another one if its classifier recognises 500 records more, which is one in a hundred.
const (
	DefaultShare   = 0.03
	DefaultRecords = 10_000
)

// Bounds on the work and the memory of a run.
const (
	mostCandidates = 1000
	mostRecords    = 1 << 24
	mostNumbers    = 1 << 28 // of all synthetic records
	mostWeights    = 1 << 26 // of a classifier
	mostSide       = 1 << 14 // of an image
)

func (c Config) withDefaults() Config {
	c.Share, c.Records = cmp.Or(c.Share, DefaultShare), cmp.Or(c.Records, DefaultRecords)
	if c.Candidates == nil && c.Of != nil {
		c.Candidates = Defaults(c.Of.Schema())
	}
	c.Candidates = slices.Clone(c.Candidates)
	return c
}

// Validate reports every mistake, as joined *param.Error values.
func (c Config) Validate() error {
	c = c.withDefaults()
	var k param.Checker
	c.check(&k)
	k.OK(synth.WorkOf(c.Of) != nil, "augment.Config.Of", nil,
		"a plan that embeds a synth.Program, as plans of all systems do")
	if c.Of != nil {
		k.OK(!slices.Contains([]string{systemName, "tune"}, c.Of.System()),
			"augment.Config.Of", c.Of.System(), "a plan of one system, such as merf or labelling")
	}
	if k.Err() != nil {
		return k.Err()
	}
	s := c.Of.Schema()
	k.Add(records.RefusePersons("augment.Config.Of.Schema", s))
	k.OK(c.Of.Budget().Relation == c.Budget.Relation, "augment.Config.Of.Budget.Relation",
		c.Of.Budget().Relation, "the relation of the whole, "+c.Budget.Relation.String())
	k.OK(s.Classes() > 1, "augment.Config.Of.Schema", s, "records of two classes or more")
	c.checkSizes(&k, s)
	released := synth.Inner{Plan: c.Of}.Releases()
	k.OK(released.Equal(s), "augment.Config.Of", released,
		"a system whose synthetic records have its own schema, labels included: "+
			records.Difference(released, s))
	k.OK(len(c.Candidates) > 1 && len(c.Candidates) <= mostCandidates, "augment.Config.Candidates",
		len(c.Candidates), fmt.Sprintf("2 to %d candidates", mostCandidates))
	for i, candidate := range c.Candidates {
		candidate.check(&k, fmt.Sprintf("augment.Config.Candidates[%d]", i), s)
	}
	return k.Err()
}

// checkSizes refuses plans whose classifiers could not be trained after the other system has been
// paid for.
func (c Config) checkSizes(k *param.Checker, s records.Schema) {
	width := s.Dim()
	if s.Sparse() {
		width = s.MaxItems()
	}
	width = max(width, s.Classes(), 1)
	k.OK(c.Records <= mostNumbers/width, "augment.Config.Records", c.Records,
		fmt.Sprintf("at most %d of this schema", mostNumbers/width))
	k.OK(s.Height() <= mostSide && s.Width() <= mostSide && weights(s) <= mostWeights,
		"augment.Config.Of.Schema", s,
		fmt.Sprintf("records whose classifier has at most %d parameters", mostWeights))
}

// check makes the checks that need no plan.
func (c Config) check(k *param.Checker) {
	k.Add(c.Budget.Validate())
	k.OK(c.Share > 0 && c.Share < 1, "augment.Config.Share", c.Share,
		"a part of ε in (0, 1), or 0 for the default")
	k.OK(c.Records > 0 && c.Records <= mostRecords, "augment.Config.Records", c.Records,
		fmt.Sprintf("a number of records up to %d, or 0 for the default", mostRecords))
}

// Within returns the configuration with Of planned for the largest budget that the choice leaves,
// to within half a per cent of the whole budget. The function plan returns the other system's plan
// for a budget with the same δ and relation. It is called several times.
//
// Guarantee: the choice is ε·Share-differentially private, and both together cost at most ε at the
// budget's δ. Errors: all errors of plan and of Validate; accountant.ErrBudgetExceeded if the
// choice leaves less than a hundredth of the budget, measured as in synth.Within.
func (c Config) Within(plan func(accountant.Budget) (synth.Plan, error)) (Config, error) {
	var k param.Checker
	own := c.withDefaults()
	own.check(&k)
	k.OK(plan != nil, "augment.Config.Within.plan", nil, "a function")
	if k.Err() != nil {
		return c, k.Err()
	}
	of, err := synth.Within(c.Budget, own.stage().Whole(),
		func(b accountant.Budget) (synth.Plan, error) {
			p, err := plan(b)
			if err != nil {
				return nil, err
			}
			whole := c
			whole.Of = p
			return p, whole.Validate()
		})
	if err != nil {
		return c, fmt.Errorf("augment: beside the choice: %w", err)
	}
	c.Of = of
	return c, nil
}

// PurposeChoice is the purpose of the choice on the ledger.
const PurposeChoice = "choice of a change"

// stage returns the stage of the choice.
func (c Config) stage() synth.Stage {
	return synth.Stage{Purpose: PurposeChoice, Count: 1,
		Event: accountant.ExponentialMechanism{Epsilon: c.Budget.Epsilon * c.Share}}
}

// stages returns the stages of the other system and of the choice.
func (c Config) stages() []synth.Stage { return append(c.inner().Stages(), c.stage()) }

// inner returns the other system as a part of the run.
func (c Config) inner() synth.Inner {
	return synth.Inner{Plan: c.Of, Prefix: c.Of.System() + ": "}
}
