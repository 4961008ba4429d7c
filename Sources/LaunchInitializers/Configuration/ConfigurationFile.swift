#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The reader of JSON files for ``LayeredConfiguration``, and the only part of this module that imports Foundation on Linux.
enum ConfigurationFile {
  /// Returns the values of a file; nil if there is no file.
  static func read(_ path: String) throws(ConfigurationError) -> ServiceStorage? {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw ConfigurationError(
        .unreadableFile, path: path,
        "the file exists, but can't be read. Check its permissions, and that it isn't a folder.")
    }
    do {
      let services = try JSONDecoder().decode([String: [String: [String: Scalar]]].self, from: data)
      if let path = DuplicateKey.first(in: data) { throw DuplicateKey(path: path) }
      return services.mapValues { stages in
        Dictionary(uniqueKeysWithValues: stages.map { (ReleaseStage(rawValue: $0), $1.mapValues(\.text)) })
      }
    } catch let duplicate as DuplicateKey {
      let key = duplicate.path.joined(separator: ".").escaped
      throw ConfigurationError(.malformedFile, path: path, "\(key) occurs twice. Remove one of the two.")
    } catch {
      throw ConfigurationError(.malformedFile, path: path, problem(of: error))
    }
  }

  /// The message about an error, from its coding path alone because its text may quote the file.
  private static func problem(of error: any Error) -> String {
    let shape = """
      Write an object of services, of stages, of keys with strings, numbers or Bools: \
      {"Crash": {"production": {"ApiKey": "…"}}}.
      """
    let path: [any CodingKey] =
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
        context.codingPath
      default: []
      }
    if path.isEmpty { return "the file isn't the JSON of a configuration. \(shape)" }
    return "the value at \(path.map(\.stringValue).joined(separator: ".").escaped) has the wrong type. \(shape)"
  }

  /// A string, or a number or Bool that is converted to text.
  private struct Scalar: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let bool = Self.decode(Bool.self, from: container) {
        text = String(bool)
      } else if let integer = Self.decode(Int.self, from: container) {
        text = String(integer)
      } else if let number = Self.decode(Double.self, from: container) {
        // A larger Double may differ from the number in the file.
        guard number.magnitude < 0x1p53 else {
          throw DecodingError.dataCorruptedError(in: container, debugDescription: "Write it as a string.")
        }
        text = String(number)
      } else {
        text = try container.decode(String.self)
      }
    }

    /// Returns the value as a type; nil if it is of another type.
    ///
    /// If all types fail, the decoding of the last one throws.
    private static func decode<Value: Decodable>(
      _ type: Value.Type, from container: any SingleValueDecodingContainer
    ) -> Value? {
      do { return try container.decode(type) } catch { return nil }
    }
  }
}

/// An error for a key that an object has twice; decoders don't report it, and take one of the two values.
private struct DuplicateKey: Error {
  let path: [String]

  /// Returns the path of the first key that occurs twice in valid JSON; nil if there is none.
  static func first(in json: Data) -> [String]? {
    // The keys of each open object or array, and the latest one.
    var open: [(keys: Set<String>, latest: String?)] = []
    var index = json.startIndex
    while index < json.endIndex {
      let byte = json[index]
      index += 1
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(([], nil))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open.removeLast()
      case UInt8(ascii: "\""):
        let start = index - 1
        while json[index] != UInt8(ascii: "\"") { index += json[index] == UInt8(ascii: "\\") ? 2 : 1 }
        index += 1
        let next = json[index...].first { !" \t\r\n".utf8.contains($0) }
        guard next == UInt8(ascii: ":"), !open.isEmpty, let key = text(of: json[start..<index]) else { continue }
        let isNew = open[open.count - 1].keys.insert(key).inserted
        open[open.count - 1].latest = key
        if !isNew { return open.compactMap(\.latest) }
      default: break
      }
    }
    return nil
  }

  /// The text of a valid JSON string.
  private static func text(of string: Data) -> String? {
    do { return try JSONDecoder().decode(String.self, from: string) } catch { return nil }
  }
}
