package param

import "errors"

// A Checker collects mistakes, so that a user sees all of them at once. The zero value is ready to
// use.
type Checker struct{ errs []error }

// OK notes a mistake where good is false.
func (c *Checker) OK(good bool, path string, value any, want string) {
	if !good {
		c.errs = append(c.errs, New(path, value, want))
	}
}

// Add notes an error that was found elsewhere; nil is ignored.
func (c *Checker) Add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// Err joins all mistakes into one error; nil for none.
func (c *Checker) Err() error { return errors.Join(c.errs...) }
