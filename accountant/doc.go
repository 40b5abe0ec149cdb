// Package accountant prices differentially private mechanisms and keeps the bill.
//
// An [Event] says what happened (a Gaussian release, ten thousand Poisson-sampled steps, ...), a
// [Relation] says between which data sets the promise is made, and the package answers what that
// costs: [Epsilon], [Delta], [TradeOff], and the reverse questions ([CalibrateNoise],
// [CalibrateSteps], ...). A [Ledger] holds a budget, is asked before anything is spent, and prints
// the [Guarantee].
//
// Every number comes as a [Bound]: the published one is Upper, which is never below the truth. Two
// engines provide sound upper ends and the smaller one is published: Rényi differential privacy
// (Mironov 2017; Mironov, Talwar and Zhang 2019; Canonne, Kamath and Steinke 2020) and privacy loss
// distributions (Sommer, Meiser and Mohammadi 2019; Doroshenko, Ghazi, Kamath, Kumar and Manurangsi
// 2022). Where no sound analysis is known the answer is [ErrUnsupported], never an approximation.
//
// The package is arithmetic: it reads no data, draws no noise and needs no device.
package accountant
