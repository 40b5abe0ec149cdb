// Package accountant computes the privacy cost of differentially private mechanisms and
// keeps ledgers of it.
//
// An [Event] describes what happened (a Gaussian release, ten thousand Poisson-sampled steps, ...)
// and a [Relation] the data sets that are compared. The package computes the cost: [Epsilon],
// [Delta], [TradeOff], and the reverse questions ([CalibrateNoise], [CalibrateSteps], ...). A
// [Ledger] holds a budget, checks it before anything is spent, and states the [Guarantee].
//
// Every number comes as a [Bound]: the published one is Upper, which is never below the truth. Two
// engines provide sound upper ends and the smaller one is published: Rényi differential privacy
// (Mironov 2017; Mironov, Talwar and Zhang 2019; Canonne, Kamath and Steinke 2020) and privacy loss
// distributions (Sommer, Meiser and Mohammadi 2019; Doroshenko, Ghazi, Kamath, Kumar and Manurangsi
// 2022). Events without a known sound analysis result in [ErrUnsupported], never in an
// approximation.
//
// The package only computes: it reads no data and draws no noise.
package accountant
