package merf

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// Learned describes a second release, of features that are learned from the first.
//
// Two networks are trained against the first release and generate labelled records. Another
// network, the encoder, learns to classify these records; images are first distorted a little. Its
// last hidden layer, the code, describes what distinguishes the classes. The mean features of the
// private records' codes are then released for each class, and the plan's networks are trained
// against both releases. Images gain most; docs/defaults.md has the measurements.
//
// Guarantee: the plan has two stages, a Gaussian release each. The encoder is computed from the
// first release and from public seeds, so it is public when the second release is made. A record's
// code depends on that record only, and its features have a norm of at most 1 for any code. Both
// releases together have the squared effect of a single one of the plan's noise multiplier.
//
// Source: random features of codes are those of package rff. Releases whose features come from
// networks trained on earlier synthetic data are used by several systems; here the two releases
// share one budget.
type Learned struct {
	// Part is the fraction of the squared effect for the second release, from 2^-10 to 1-2^-10. 0
	// means no second release, unless Config.Nominal is given and a default rule chooses it.
	Part float64 `json:"part,omitempty"`
	// Features is the number of random features of a code, which is even; 0 means 2000.
	Features int `json:"features,omitempty"`
	// Code is the number of coordinates of a code; 0 means 64.
	Code int `json:"code,omitempty"`
	// Bandwidth is the mean length scale of the Gaussian kernels on codes, in units of the mean
	// distance between the codes of two generated records; 0 means 0.5. The scales range from 1/1.7 to
	// 1.7 times this mean.
	Bandwidth float64 `json:"bandwidth,omitempty"`
	// Steps is the number of training steps of each first network; 0 means 2000.
	Steps int `json:"steps,omitempty"`
	// Records is the number of generated records that the encoder learns from; 0 means 20,000.
	Records int `json:"records,omitempty"`
	// Epochs is the number of passes over these records; 0 means 8.
	Epochs int `json:"epochs,omitempty"`
	// Distort is the strength of the distortions of images; see retouch.Distortion. 0 means 1.
	Distort float64 `json:"distort,omitempty"`
}

// PurposeLearned is the name of the stage that releases learned features, and the purpose of its
// ledger entry.
const PurposeLearned = "learned embedding"

const (
	leastPart     = 0x1p-10
	mostNumbers   = 1 << 28 // of the generated records
	mostWidth     = 1 << 20 // numbers of a record; sizes of encoders then fit into 32 bits
	mostEncoder   = 1 << 26 // parameters of the encoder
	mostCode      = 1 << 12
	mostGenerated = 1 << 24
	mostEpochs    = 1 << 16
)

func (l Learned) none() bool { return l.Part == 0 }

func (l Learned) withDefaults() Learned {
	l.Features, l.Code = cmp.Or(l.Features, 2000), cmp.Or(l.Code, 64)
	l.Bandwidth, l.Distort = cmp.Or(l.Bandwidth, 0.5), cmp.Or(l.Distort, 1)
	l.Steps, l.Records = cmp.Or(l.Steps, 2000), cmp.Or(l.Records, 20_000)
	l.Epochs = cmp.Or(l.Epochs, 8)
	return l
}

// validateLearned returns the mistakes in Learned.
func (c Config) validateLearned() error {
	const path = "merf.Config.Learned"
	l := c.Learned
	var k param.Checker
	if l.none() {
		k.OK(l == Learned{}, path+".Part", l.Part, "a fraction from 2^-10 to 1-2^-10, or a Learned that is zero")
		return k.Err()
	}
	l = l.withDefaults()
	k.OK(l.Part >= leastPart && l.Part <= 1-leastPart, path+".Part", l.Part,
		"a fraction from 2^-10 to 1-2^-10, or 0 for none")
	k.OK(l.Features > 0 && l.Features%2 == 0 && l.Features <= maxSums, path+".Features", l.Features,
		fmt.Sprintf("a positive even number up to %d, or 0 for 2000", maxSums))
	k.OK(l.Code > 0 && l.Code <= mostCode, path+".Code", l.Code,
		fmt.Sprintf("a positive number of coordinates up to %d, or 0 for 64", mostCode))
	k.OK(l.Bandwidth >= 0x1p-10 && l.Bandwidth <= 0x1p10, path+".Bandwidth", l.Bandwidth,
		"a number of mean distances from 2^-10 to 2^10, or 0 for 0.5")
	k.OK(l.Steps > 0, path+".Steps", l.Steps, "a positive integer, or 0 for 2000")
	k.OK(l.Records > 1 && l.Records <= mostGenerated, path+".Records", l.Records,
		fmt.Sprintf("a number of records from 2 to %d, or 0 for 20000", mostGenerated))
	k.OK(l.Epochs > 0 && l.Epochs <= mostEpochs, path+".Epochs", l.Epochs,
		fmt.Sprintf("a positive number up to %d, or 0 for 8", mostEpochs))
	k.OK(l.Distort > 0 && l.Distort <= 10, path+".Distort", l.Distort,
		"a strength in (0, 10], or 0 for 1")
	k.OK(c.Batches.none(), path, c.Batches, "a single release: no Batches")
	if s := c.Schema; s.Validate() == nil {
		k.OK(!s.Sparse() && s.Classes() > 1, path, s.String(),
			"records of two classes or more that are not sets")
		k.OK(s.Dim() <= mostWidth, path, s.String(),
			fmt.Sprintf("records of at most %d numbers", mostWidth))
		k.OK(s.Sparse() || l.Records <= mostNumbers/max(s.Dim(), 1), path+".Records", l.Records,
			fmt.Sprintf("at most %d records of %d numbers", mostNumbers/max(s.Dim(), 1), s.Dim()))
		if k.Err() != nil {
			return k.Err()
		}
		if s.IsImage() {
			k.Add(imageNetwork(s).Validate())
		}
		n, _ := (&encoder{schema: s, settings: l}).size()
		k.OK(n <= mostEncoder, path+".Code", l.Code,
			fmt.Sprintf("an encoder of at most %d parameters, but these records need %d", mostEncoder, n))
	}
	return k.Err()
}

// imageNetwork describes the encoder of images of a schema without its last layer.
func imageNetwork(s records.Schema) models.CNN {
	return models.CNN{Height: s.Height(), Width: s.Width(), Channels: s.Channels(),
		Convolutions: []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2},
			{Maps: 32, Size: 5, Stride: 2, Pad: 2}}, Hidden: []int{128}}
}

// hiddenOfRows holds the widths of the hidden layers of the encoder of records other than images.
var hiddenOfRows = []int{128, 128}

// checkJoint draws the joint features of both releases, because they may not fit together. The
// mistake must be found before any budget is spent. The argument std is the noise of the first
// release.
func (c Config) checkJoint(std float64) error {
	const path = "merf.Config.Learned"
	var k param.Checker
	for _, s := range c.stages(c.NoiseMultiplier) {
		k.OK(mechanism.IsNoiseMultiplier(s.NoiseMultiplier), path+".Part", c.Learned.Part,
			fmt.Sprintf("a part for which every stage's noise multiplier is at most 2^24, not %g",
				s.NoiseMultiplier))
	}
	c.share = shareOfLearned(std, c.learnedNoise().sum)
	k.OK(c.share >= leastShare && c.share <= 1-leastShare, path+".Part", c.Learned.Part,
		fmt.Sprintf("a part with which both releases count: learned features would have %g of the joint "+
			"squared norm", c.share))
	if k.Err() != nil {
		return k.Err()
	}
	c.encoder = &encoder{schema: c.Schema, settings: c.Learned, bandwidth: 1}
	joint, err := c.features()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	k.OK(joint.Dim() <= maxSums/classesOf(c.Schema), path+".Features", joint.Dim(),
		fmt.Sprintf("a number of joint features that, times classes, is at most %d", maxSums))
	return k.Err()
}

// leastShare is the least part of the joint squared norm that each release has. Shares lost to
// interruptions change the part by a small factor.
const leastShare = 0x1p-40

// shareOfLearned returns the fraction of the joint squared norm for learned features, by the noise
// of both releases.
func shareOfLearned(std, learned float64) float64 {
	first, second := 1/(std*std), 1/(learned*learned)
	return second / (first + second)
}

// learnedStage returns the stage of the second release for the noise multiplier of the whole.
func (c Config) learnedStage(z float64) synth.Stage {
	z /= math.Sqrt(c.Learned.Part)
	return synth.Stage{Purpose: PurposeLearned, Event: accountant.Gaussian{NoiseMultiplier: z},
		Count: 1, NoiseMultiplier: z, Once: true}
}

// learnedNoise returns the noise of the second release, which has sums only: the counts of the
// first release serve both. A record changes the sum of its class by a vector of norm at most 1. A
// replaced record changes either one sum by at most 2 or two sums by at most 1 each; see spread.
func (c Config) learnedNoise() noise {
	z, r := c.NoiseMultiplier/math.Sqrt(c.Learned.Part), c.Budget.Relation
	b := bounds{rows: c.Schema.RowsPerPerson(), norm: 1, change: 2,
		dim: c.Learned.withDefaults().Features}
	n := noise{sum: z}
	if r == accountant.ReplaceOne {
		b = b.held(mechanism.GridFor(2 * z))
		n.sum = z * max(b.change, math.Sqrt2)
	}
	return measured(r, b, classesOf(c.Schema), n)
}

// joint returns the kernel of both releases together. The argument part is the fraction of the
// squared norm for learned features.
func (l *encoder) joint(base rff.EmbeddingKernel, part float64) rff.Join {
	list := []rff.Part{{Share: 1 - part, Kernel: base}}
	if j, ok := base.(rff.Join); ok { // the parts of a Join are not Joins
		total := 0.0
		for _, p := range j.Parts {
			total += p.Share
		}
		list = nil
		for _, p := range j.Parts {
			list = append(list, rff.Part{Share: (1 - part) * p.Share / total, Kernel: p.Kernel})
		}
	}
	return rff.Join{Parts: append(list, rff.Part{Share: part, Kernel: l})}
}
