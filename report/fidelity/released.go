package fidelity

import "github.com/seed7ba64551/privgen/accountant"

// Released are the figures, all functions of one release of noisy counts.
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
	Guarantee accountant.Guarantee `json:"guarantee"`
}

// Column is one column's figure.
type Column struct {
	Name string `json:"name"`
	// TVComplement is 1 less the total variation distance of the noisy shares of the real levels, or
	// bins, from the synthetic ones. The noise lowers it, by about Noise if the true value is 1.
	TVComplement float64 `json:"tv_complement"`
	Noise        float64 `json:"noise"`
}

// Classifier is one classifier's figure.
type Classifier struct {
	Method   string  `json:"method"`
	Accuracy float64 `json:"accuracy"` // trained on synthetic records, tested on the real ones
	Std      float64 `json:"std"`      // of its noise
}
