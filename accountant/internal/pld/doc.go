// Package pld composes privacy loss distributions. A mechanism is a dominating pair of
// distributions ([Pair]) for each direction of the neighbouring relation ([Pairs]); a
// [Composition] of many has a δ(ε) that is bracketed by convolution on a grid, and a [Single] use
// has an exact one. The package knows distributions and counts, but no events.
//
// Sources: Sommer, Meiser and Mohammadi 2019; Zhu, Dong and Wang 2022; Doroshenko, Ghazi, Kamath,
// Kumar and Manurangsi 2022.
package pld
