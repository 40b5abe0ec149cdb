// Package kmeans clusters records privately, in any feature space.
//
// Each iteration assigns every record to its nearest centre once and releases, as one Gaussian
// event, the number of records in each cluster and the sum of their clipped features. Everything
// after that (dividing, projecting, keeping or splitting small clusters, weights) uses released
// numbers only and costs no privacy. With random Fourier features this is the private kernel
// k-means of Acs, Melis, Castelluccia and De Cristofaro (2017, 2019), corrected so that the
// guarantee holds: their algorithm 2 assigns inside the loop over clusters, so one record can count
// in several clusters. With [Raw] features it is the standard private Lloyd iteration of Blum,
// Dwork, McSherry and Nissim (2005).
//
// Noise is of the exact class: sums are fixed-point integers and the noise on
// them is sampled exactly, so no floating-point rounding enters the guarantee.
// Only noisy cluster sizes are released, never exact ones.
//
// # Settings
//
// The noise of a centre has norm s·√d/n, where s is the standard deviation of the noise on sums, d
// the number of features and n the number of records in the cluster. If ε is small, few features
// and few iterations are best. For 60,000 binarised 28×28 images in ten clusters, settings were
// tuned on generated digits, with RBF features of bandwidth 8, [SplitLargest], [ShrinkToMean] and
// 20 iterations. Best were 400 features and Memory 0.5 at ε ≤ 0.2, 400 features without memory at ε
// = 0.5, and 800 features at ε = 1. Without [ShrinkToMean], use 200 features, and at ε ≤ 0.2 at
// most 5 iterations.
//
// For clusters that are the digits, features matter more than these settings. On MNIST's 60,000
// images rff.Strokes had a clustering accuracy of .91, with 25 centres for the ten clusters
// ([Config].Centers), .3 of ε = 1.74 and 10 iterations; RBF features had .47.
package kmeans
