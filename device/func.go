package device

import "fmt"

// Func is an element-wise function that every backend knows.
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

var funcNames = [funcs]string{"identity", "relu", "leakyrelu", "tanh", "sigmoid", "softplus", "exp", "log"}

// String is the function's name in lower case.
func (f Func) String() string {
	if f < 0 || f >= funcs {
		return fmt.Sprintf("Func(%d)", int(f))
	}
	return funcNames[f]
}

// MarshalText writes the function's name.
func (f Func) MarshalText() ([]byte, error) {
	if f < 0 || f >= funcs {
		return nil, fmt.Errorf("device: no function has number %d", int(f))
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads a name that MarshalText wrote.
func (f *Func) UnmarshalText(text []byte) error {
	for i, name := range funcNames {
		if name == string(text) {
			*f = Func(i)
			return nil
		}
	}
	return fmt.Errorf("device: %q is no element-wise function", text)
}

// check panics unless f is one of the functions above.
func (f Func) check() {
	if f < 0 || f >= funcs {
		panic("device: " + f.String() + " is no element-wise function")
	}
}
