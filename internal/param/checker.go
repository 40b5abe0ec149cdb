package param

import "errors"

// A Checker collects mistakes, so a user sees all of them at once. The zero value is ready to use.
type Checker struct{ errs []error }

// OK records a mistake if good is false.
func (c *Checker) OK(good bool, path string, value any, want string) {
	if !good {
		c.errs = append(c.errs, New(path, value, want))
	}
}

// Add records an error that was found elsewhere; nil is ignored.
func (c *Checker) Add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// Err returns all mistakes joined into one error, or nil if there are none.
func (c *Checker) Err() error { return errors.Join(c.errs...) }
