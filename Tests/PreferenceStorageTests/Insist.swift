import PreferenceStorage

/// Ends the process unless the condition is true; for child processes, whose crash is the failure of the test.
func insist(_ condition: Bool, line: UInt = #line) {
  if !condition { fatalError("not so, in line \(line)") }
}

/// Returns the code of the error that the body throws, or nil if it throws none.
func code(_ body: () throws -> Void) -> PreferenceError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? PreferenceError)?.code
  }
}
