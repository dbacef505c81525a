package cli

import "time"

// PatientHooks lets hooks take longer than any person would wait, so that a busy
// machine fails no test.
func PatientHooks() { hookTimeout = 5 * time.Minute }
