package rff_test

// golden holds the features that TestSeedsAndGoldenFeatures expects.
var golden = []float64{0.69355613, 0.7063988, 0.13776384, 0.03161858}
