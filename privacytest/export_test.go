package privacytest

// SomeEdges is Edges without the pairs that a test does not need: each takes two large data sets.
var SomeEdges = edges
