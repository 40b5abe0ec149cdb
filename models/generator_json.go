package models

// UnmarshalGenerator reads an architecture that [MarshalArchitecture] wrote. If others contains an
// architecture of the same name, that value is returned unchanged.
//
// Errors: ErrFormat for malformed JSON and unknown names; the errors of Validate for an invalid
// description.
func UnmarshalGenerator(data []byte,
	others ...GeneratorArchitecture) (GeneratorArchitecture, error) {
	return unmarshalTagged[GeneratorArchitecture](data, others, MLP{}, ConvDecoder{})
}

// A GeneratorSizer computes the size of its networks without building one, like a DensitySizer.
type GeneratorSizer interface {
	// GeneratorSize returns the number of parameters and the number of bytes of public state. Both
	// saturate at math.MaxInt64.
	GeneratorSize(latent int, heads []Head) (params, state int64)
}

// generatorSize adds up the sizes of layers, with or without batch norm.
type generatorSize struct{ params, state int64 }

func (s *generatorSize) add(weights int64, biases, channels int, normalised bool) {
	s.params = addSize(s.params, addSize(weights, int64(biases)))
	if normalised {
		s.params = addSize(s.params, mulSize(2, int64(channels)))
		s.state = addSize(s.state, addSize(8, mulSize(8, int64(channels))))
	}
}

func (s *generatorSize) dense(in, out int, normalised bool) {
	s.add(mulSize(int64(in), int64(out)), out, out, normalised)
}

// GeneratorSize returns the size of all layers and their batch norm.
func (a MLP) GeneratorSize(latent int, heads []Head) (params, state int64) {
	var s generatorSize
	width := latent
	for _, wide := range a.Hidden {
		s.dense(width, wide, a.BatchNorm)
		width = wide
	}
	s.dense(width, headsWidth(heads), false)
	return s.params, s.state
}

// GeneratorSize returns the size of all layers and their batch norm. The heads have no parameters.
func (a ConvDecoder) GeneratorSize(latent int, _ []Head) (params, state int64) {
	var s generatorSize
	width, k := latent, len(a.Maps)
	for _, wide := range a.Hidden {
		s.dense(width, wide, a.BatchNorm)
		width = wide
	}
	first := mulSize(int64(a.Height>>k)*int64(a.Width>>k), int64(a.Maps[0]))
	s.add(mulSize(int64(width), first), 0, a.Maps[0], a.BatchNorm)
	s.params = addSize(s.params, first)
	window := int64(a.Size) * int64(a.Size)
	for i, in := range a.Maps {
		out, last := a.Channels, i+1 == k
		if !last {
			out = a.Maps[i+1]
		}
		s.add(mulSize(window, mulSize(int64(in), int64(out))), out, out, a.BatchNorm && !last)
	}
	return s.params, s.state
}
