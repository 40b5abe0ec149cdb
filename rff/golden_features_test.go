package rff_test

// golden are the features of TestSeedsAndGoldenFeatures.
var golden = []float64{0.69355613, 0.7063988, 0.13776384, 0.03161858}
