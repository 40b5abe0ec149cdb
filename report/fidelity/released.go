package fidelity

import "github.com/seed7ba64551/privgen/ledger"

// Released holds the figures, which are all computed from one release of noisy counts.
type Released struct {
	// Records is the noisy number of real records.
	Records float64 `json:"records"`
	// NoiseStd is the standard deviation of the noise on every count, in records.
	NoiseStd float64  `json:"noise_std"`
	Columns  []Column `json:"columns"`
	// Mean is the mean of the columns' TVComplement.
	Mean        float64      `json:"mean_tv_complement"`
	MeanNoise   float64      `json:"mean_noise"`
	Classifiers []Classifier `json:"classifiers,omitempty"`
	// Synthetic is the number of synthetic records that were compared and trained on.
	Synthetic int `json:"synthetic"`
	// Guarantee is the guarantee of the whole ledger after the release.
	Guarantee ledger.Guarantee `json:"guarantee"`
}

// Column is the figure of one column.
type Column struct {
	Name string `json:"name"`
	// TVComplement is 1 minus the total variation distance between the noisy shares of the real
	// levels, or bins, and the synthetic shares. The noise lowers it, by about Noise if the true value
	// is 1.
	TVComplement float64 `json:"tv_complement"`
	Noise        float64 `json:"noise"`
}

// Classifier is the figure of one classifier.
type Classifier struct {
	Method   string  `json:"method"`
	Accuracy float64 `json:"accuracy"` // trained on synthetic records, tested on the real ones
	Std      float64 `json:"std"`      // standard deviation of the noise on Accuracy
}
