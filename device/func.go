package device

import "github.com/seed7ba64551/privgen/internal/param"

// Func is an element-wise function that every backend supports.
type Func int

const (
	Identity  Func = iota // x
	ReLU                  // max(x, 0)
	LeakyReLU             // x for x > 0, LeakySlope·x otherwise
	Tanh                  // hyperbolic tangent
	Sigmoid               // 1/(1 + e⁻ˣ)
	Softplus              // log(1 + eˣ)
	Exp                   // eˣ
	Log                   // natural logarithm
	funcs
)

// LeakySlope is the slope of LeakyReLU left of zero.
const LeakySlope = 0.2

var funcNames = param.Names[Func]{Type: "device.Func", List: []string{
	"identity", "relu", "leakyrelu", "tanh", "sigmoid", "softplus", "exp", "log",
}}

// String returns the name of f.
func (f Func) String() string { return funcNames.String(f) }

// MarshalText returns the name of f.
//
// Errors: *[param.Error] if f is not one of the constants above.
func (f Func) MarshalText() ([]byte, error) { return funcNames.Marshal(f) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (f *Func) UnmarshalText(text []byte) error { return funcNames.Unmarshal(text, f) }

// check panics unless f is one of the functions above.
func (f Func) check() {
	if !funcNames.Known(f) {
		panic("device: " + f.String() + " is not an element-wise function")
	}
}
