// Package usage knows what an account has used: from the host's logs, counted once
// whatever becomes of them (Index), and from what the host says of the account's
// limits (Limits). It says what that cost and how much of a window is left. It
// reads the logs and never writes to them.
package usage
