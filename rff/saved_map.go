package rff

// SavedMap is the JSON form of the feature map of a released model. At most one field is set.
type SavedMap struct {
	Features   *Map           `json:"features,omitempty"`
	Strokes    *strokeMap     `json:"strokes,omitempty"`
	Scattering *scatteringMap `json:"scattering,omitempty"`
}

// SaveMap returns the form in which a feature map of this package is written. For anything else it
// is empty.
func SaveMap(f any) (s SavedMap) {
	switch f := f.(type) {
	case *Map:
		s.Features = f
	case *strokeMap:
		s.Strokes = f
	case *scatteringMap:
		s.Scattering = f
	}
	return s
}

// Map returns the map, or nil if there is none.
func (s SavedMap) Map() Features {
	switch {
	case s.Strokes != nil:
		return s.Strokes
	case s.Scattering != nil:
		return s.Scattering
	case s.Features != nil:
		return s.Features
	}
	return nil
}
