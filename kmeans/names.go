package kmeans

import "github.com/seed7ba64551/privgen/internal/param"

// The names of constants in text and JSON.
var (
	methodNames = param.Names[Method]{Type: "kmeans.Method", List: []string{
		"mean-first", "public", "given",
	}}
	smallNames = param.Names[Small]{Type: "kmeans.Small", List: []string{
		"keep-center", "split-largest",
	}}
	shrinkNames = param.Names[Shrink]{Type: "kmeans.Shrink", List: []string{"to-mean", "none"}}
)

// String returns the name.
func (m Method) String() string { return methodNames.String(m) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value that is not one of the constants.
func (m Method) MarshalText() ([]byte, error) { return methodNames.Marshal(m) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (m *Method) UnmarshalText(text []byte) error { return methodNames.Unmarshal(text, m) }

// String returns the name.
func (s Small) String() string { return smallNames.String(s) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value that is not one of the constants.
func (s Small) MarshalText() ([]byte, error) { return smallNames.Marshal(s) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (s *Small) UnmarshalText(text []byte) error { return smallNames.Unmarshal(text, s) }

// String returns the name.
func (s Shrink) String() string { return shrinkNames.String(s) }

// MarshalText writes the name.
//
// Errors: *[param.Error] for a value that is not one of the constants.
func (s Shrink) MarshalText() ([]byte, error) { return shrinkNames.Marshal(s) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (s *Shrink) UnmarshalText(text []byte) error { return shrinkNames.Unmarshal(text, s) }
