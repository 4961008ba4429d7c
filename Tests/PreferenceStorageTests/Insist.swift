import PreferenceStorage

/// For child processes, whose failure is that they crash: ends the process unless the condition is true.
func insist(_ condition: Bool, line: UInt = #line) {
  if !condition { fatalError("not so, in line \(line)") }
}

/// The code of the error that the body throws.
func code(_ body: () throws -> Void) -> PreferenceError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PreferenceError)?.code
  }
}
