// Package onnx writes networks as ONNX files, for programs in other languages: networks of package
// models, and the networks of released generators, which map codes to records.
//
//	networks, err := onnx.Networks(gen) // one, or one for each cluster
//	err = onnx.Write(file, networks[0])
//
// A file holds one graph that maps any number of rows of In numbers to rows of Out numbers. It uses
// operators of the standard set at version [Opset]. Its results differ from the library's only by
// rounding, since sums are computed in another order.
//
// # What a file leaves out
//
// A graph draws nothing. The program that runs it draws codes: standard Gaussians, followed by the
// one-hot class if there are classes. It draws clusters and classes by their released weights. It
// also converts the network's outputs to records: it draws levels and binary coordinates from their
// probabilities, and scales other numbers from [0,1] to the schema's bounds. The corrections that
// dpgm.Marginals makes after the network are not part of a graph either.
//
// A network without layers cannot be written: a restricted Boltzmann machine, for example, draws
// samples by Gibbs sweeps. The error names the type of the network.
//
// # Guarantee
//
// A file contains parameters and public descriptions. The guarantee of a released generator covers
// its parameters, and the file contains the guarantee's text.
//
// Source: the messages are generated from the onnx.proto that ONNX publishes; the files are of IR
// version 8.
package onnx
