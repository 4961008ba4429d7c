internal import Support

extension LaunchReport {
  /// Returns the report as a JSON object; the members have the names of the properties, and times are in seconds.
  public func json() -> String {
    let entries = entries.map { entry in
      """
          {"id": \(entry.id.jsonQuoted), "outcome": \(entry.outcome.rawValue.jsonQuoted), "queued": \(entry.queued.seconds), \
      "start": \(entry.start.seconds), "end": \(entry.end.seconds), "attempts": \(entry.attempts), \
      "message": \(entry.message?.jsonQuoted ?? "null"), "waitedFor": \(Self.list(entry.waitedFor)), \
      "tookSlotOf": \(entry.tookSlotOf?.jsonQuoted ?? "null"), "wasAbandoned": \(entry.wasAbandoned), \
      "groups": \(Self.list(entry.groups))}
      """
    }
    return """
      {
        "duration": \(duration.seconds),
        "criticalPath": \(Self.list(criticalPath)),
        "entries": [
      \(entries.joined(separator: ",\n"))
        ]
      }

      """
  }

  private static func list(_ strings: [String]) -> String {
    "[\(strings.map(\.jsonQuoted).joined(separator: ", "))]"
  }
}
