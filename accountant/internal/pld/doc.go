// Package pld composes privacy loss distributions. A mechanism is given by [Pairs]: one dominating
// [Pair] of distributions for each direction of the neighbouring relation. For a [Composition] of
// many uses, convolution on a grid brackets δ(ε). For a [Single] use, δ(ε) is exact. The package
// deals with distributions and counts, not with events.
//
// Sources: Sommer, Meiser and Mohammadi 2019; Zhu, Dong and Wang 2022; Doroshenko, Ghazi, Kamath,
// Kumar and Manurangsi 2022.
package pld
