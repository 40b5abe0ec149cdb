// Package renyi computes Rényi divergences of Gaussians on samples of the records, in logarithms
// and rounded outward, and converts divergences to (ε, δ). It deals with effects, sampling rates
// and orders, not with events.
//
// Sources: Mironov 2017; Mironov, Talwar and Zhang 2019; Wang, Balle and Kasiviswanathan 2019;
// Canonne, Kamath and Steinke 2020.
package renyi
