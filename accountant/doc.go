// Package accountant computes the privacy cost of differentially private mechanisms.
//
// An [Event] describes what happened (a Gaussian release, ten thousand Poisson-sampled steps, ...).
// A [Relation] says which data sets are compared. [Epsilon], [Delta] and [TradeOff] compute the
// cost, and [CalibrateNoise], [CalibrateCount] and others find parameters for a given cost. Package
// ledger holds budgets and decides by these prices.
//
// Every number is a [Bound]. Its Upper end is published and is never below the true value. Two
// engines compute sound upper ends, and the smaller of the two is published. One engine uses Rényi
// differential privacy (Mironov 2017; Mironov, Talwar and Zhang 2019; Canonne, Kamath and Steinke
// 2020). The other uses privacy loss distributions (Sommer, Meiser and Mohammadi 2019; Doroshenko,
// Ghazi, Kamath, Kumar and Manurangsi 2022). Events without a known sound analysis result in
// [ErrUnsupported], never in an approximation.
//
// The package only computes: it reads no data, draws no noise and keeps no account.
package accountant
