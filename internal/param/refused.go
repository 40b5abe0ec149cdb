package param

import "errors"

// refused is the error of a request that was decided against before anything was written.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// Refuse marks an error as a refusal: whatever the request asked for has not happened, and will
// not. It returns nil for nil.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	return refused{err}
}

// IsRefused reports whether an error is marked as a refusal. After any other error a request may
// have taken effect.
func IsRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}
