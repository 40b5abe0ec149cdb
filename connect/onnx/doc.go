// Package onnx writes networks as ONNX files, for programs that have no Go: what a released
// generator states of a code, and what a classifier states of a record.
//
//	networks, err := onnx.Networks(gen) // one, or one for each cluster
//	err = onnx.Write(file, networks[0])
//
// A file holds one graph from rows of In numbers to rows of Out, any number of rows at a time, of
// operators of the standard set at version [Opset]. What it states differs from what the library
// states by rounding alone: sums are in another order.
//
// # What stays outside
//
// A graph draws nothing. The program that runs it draws codes (standard Gaussians, then the class,
// one-hot, where there are classes), draws clusters and classes by their released weights, and
// makes records of what the network states: levels and binary coordinates are drawn from their
// probabilities, other numbers are moved from [0,1] into the schema's bounds. Neither are the
// corrections that gan.Marginals and dpgm.Marginals make after the network part of a graph.
//
// A network without layers, such as a restricted Boltzmann machine, whose samples come from Gibbs
// sweeps, is refused by its type; so are classifiers that are trees, ensembles or naive Bayes, by
// their names.
//
// # Guarantee
//
// A file holds parameters and public descriptions. Parameters of a released generator are covered
// by its guarantee, whose text goes into the file. A classifier of package evaluate/classify is
// trained without privacy: its file remembers the records as the classifier does.
//
// Source: the messages are generated from the onnx.proto that ONNX publishes; the files are of IR
// version 8.
package onnx
