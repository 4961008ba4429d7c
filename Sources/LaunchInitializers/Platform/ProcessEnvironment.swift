internal import Support

/// One variable of the process's environment; nil where it is not set.
func processVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
