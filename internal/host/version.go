package host

import "strings"

// AtLeast reports whether version (such as "2.1.332") is min or newer.
// A version that cannot be read is not at least anything.
func AtLeast(version, min string) bool {
	if version == "" {
		return false
	}
	for {
		v, vrest, vok := strings.Cut(version, ".")
		m, mrest, mok := strings.Cut(min, ".")
		a, b := leadingInt(v), leadingInt(m)
		if a < 0 {
			return false
		}
		if a != b {
			return a > b
		}
		if !mok {
			return true
		}
		if !vok {
			vrest = "0"
		}
		version, min = vrest, mrest
	}
}

// leadingInt returns the number s begins with, or -1.
func leadingInt(s string) int {
	n, seen := 0, false
	for i := 0; i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1<<30; i++ {
		n, seen = n*10+int(s[i]-'0'), true
	}
	if !seen {
		return -1
	}
	return n
}
