package options

// Owns reports whether name is a file this package keeps in a state directory.
func Owns(name string) bool { return name == ConfigFile || name == trackedMark || name == StampFile }
