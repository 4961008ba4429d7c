/// For child processes, whose failure is that they crash: ends the process unless the condition is true.
func insist(_ condition: Bool, line: UInt = #line) {
  if !condition { fatalError("not so, in line \(line)") }
}
