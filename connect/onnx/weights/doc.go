// Package weights reads and writes the parameters of networks in the formats that other programs
// use: safetensors and NumPy's .npz. Every block of parameters is one array with the block's name.
//
// A network may be trained elsewhere on public data and loaded here as a start, or trained here
// and used elsewhere. Parameters that were trained privately are covered by the guarantee of their
// release. Parameters that were trained on private records without noise are private.
//
// To start from public training, build the network and read the file into its Params, before it is
// given to sgd.New or returned by a user-defined architecture. State that is not a parameter, such
// as the moments of batch normalisation, is not in the file.
//
// Shapes: a weight of a dense layer is inputs × outputs, since a row of activations is multiplied
// by it from the left; PyTorch keeps the transpose. A bias is an array of one axis. Numbers are
// written as 32-bit floats. Readers also take 64-bit floats, rounded to the nearest 32-bit number,
// and in safetensors files 16-bit and brain floats.
package weights
