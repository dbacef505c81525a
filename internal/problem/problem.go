// Package problem is the error that a person is to do something about: what
// failed, and a hint. Every package that can give such advice returns one; how
// it is printed, and which exit code it leads to, is decided in one place
// (package cmdline).
package problem

import (
	"errors"
	"fmt"
)

// Error says what failed, with the value in quotes, and what to do about it.
type Error struct {
	Err  error  // what failed
	Hint string // what to do, as a clause without a period; "" when there is no advice
	// Input is set where a command line or an input needs correcting, as opposed
	// to a fault.
	Input bool
}

// Error says what failed. The hint is not part of it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns what failed.
func (e *Error) Unwrap() error { return e.Err }

// Input returns an error about a command line or an input that needs
// correcting. The format takes %w.
func Input(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint, Input: true}
}

// Fault returns an error about something that failed although the input was in
// order.
func Fault(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// AsInput returns err as one about an input that needs correcting, with the
// advice it carries.
func AsInput(err error) error { return &Error{Err: err, Hint: Hint(err), Input: true} }

// IsInput reports whether err is about an input that needs correcting.
func IsInput(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Input
}

// Hint returns the advice that err carries, "" for none.
func Hint(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}
