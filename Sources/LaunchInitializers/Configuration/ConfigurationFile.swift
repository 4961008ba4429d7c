#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads the JSON file of a ``LayeredConfiguration``; the one place of this module that knows Foundation.
enum ConfigurationFile {
  /// The values; nil where there is no file.
  static func read(_ path: String) throws(ConfigurationError) -> ServiceStorage? {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw ConfigurationError(
        .unreadableFile, path: path, "the file exists and can't be read. Check that it is a file, and its permissions.")
    }
    do {
      let services = try JSONDecoder().decode([String: [String: [String: Scalar]]].self, from: data)
      return services.mapValues { stages in
        Dictionary(uniqueKeysWithValues: stages.map { (ReleaseStage(rawValue: $0), $1.mapValues(\.text)) })
      }
    } catch {
      throw ConfigurationError(.malformedFile, path: path, problem(of: error))
    }
  }

  /// What is wrong, from the error's place only: its text may quote the file.
  private static func problem(of error: any Error) -> String {
    let shape = """
      It has to be an object of services, of stages, of keys with text, numbers or truth values: \
      {"Crash": {"production": {"ApiKey": "…"}}}.
      """
    let place: [any CodingKey] =
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context.codingPath
      default: []
      }
    if place.isEmpty { return "this is not the JSON of a configuration. \(shape)" }
    return "\(place.map(\.stringValue).joined(separator: ".")) is not what it should be. \(shape)"
  }

  /// A value: text, or what is written as text as soon as it is here.
  private struct Scalar: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let bool = Self.decode(Bool.self, from: container) {
        text = String(bool)
      } else if let integer = Self.decode(Int.self, from: container) {
        text = String(integer)
      } else if let number = Self.decode(Double.self, from: container) {
        // Beyond that a Double would not give back the number that is written.
        guard number.magnitude < 0x1p53 else {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "Write it as text.")
        }
        text = String(number)
      } else {
        text = try container.decode(String.self)
      }
    }

    /// The value as that type; nil where it is of another one, which the last one tried reports.
    private static func decode<Value: Decodable>(
      _ type: Value.Type, from container: any SingleValueDecodingContainer
    ) -> Value? {
      do { return try container.decode(type) } catch { return nil }
    }
  }
}
