extension LaunchReport {
  /// Returns the report as a JSON object, with times in seconds and members named as here.
  public func json() -> String {
    let entries = entries.map { entry in
      """
          {"id": \(entry.id.json), "outcome": \(entry.outcome.rawValue.json), "queued": \(entry.queued.seconds), \
      "start": \(entry.start.seconds), "end": \(entry.end.seconds), "attempts": \(entry.attempts), \
      "message": \(entry.message?.json ?? "null"), "waitedFor": \(Self.list(entry.waitedFor)), \
      "tookPlaceOf": \(entry.tookPlaceOf?.json ?? "null"), "wasAbandoned": \(entry.wasAbandoned)}
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
    "[\(strings.map(\.json).joined(separator: ", "))]"
  }
}

extension String {
  /// The string as JSON writes it.
  fileprivate var json: String {
    unicodeScalars.reduce(into: "\"") { text, scalar in
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case _ where scalar.value < 0x20:
        text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    } + "\""
  }
}
