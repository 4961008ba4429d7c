#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A path in the form that the system uses: bytes, which aren't necessarily valid UTF-8.
///
/// Two spellings of `é` are two names on Linux, but equal strings in Swift. For this reason, paths are compared, split
/// and joined as bytes.
package struct FilePath: Sendable, Hashable {
  /// The bytes of the path, followed by the zero byte that system calls expect at its end.
  private let terminated: [UInt8]

  package init(bytes: some Sequence<UInt8>) { terminated = bytes + [0] }

  package init(_ string: String) { self.init(bytes: string.utf8) }

  package var bytes: ArraySlice<UInt8> { terminated.dropLast() }

  package var isAbsolute: Bool { terminated.first == FilePath.slash }
  /// Whether the path isn't empty and contains no zero byte, which would end the path early in a system call.
  package var isValid: Bool { terminated.count > 1 && !bytes.contains(0) }

  /// The part before the last slash; `/` if this part is empty, and `.` if the path has no slash.
  package var folder: FilePath {
    guard let slash = bytes.lastIndex(of: FilePath.slash) else { return "." }
    return slash == 0 ? "/" : FilePath(bytes: bytes[..<slash])
  }

  /// The part after the last slash, or the whole path if there is no slash.
  package var name: FilePath {
    guard let slash = bytes.lastIndex(of: FilePath.slash) else { return self }
    return FilePath(bytes: bytes[(slash + 1)...])
  }

  /// The folders above the path, beginning with `/` or, for a relative path, with `.`.
  package var ancestors: [FilePath] {
    var ancestors = [folder]
    while let last = ancestors.last, last != "/", last != "." { ancestors.append(last.folder) }
    return ancestors.reversed()
  }

  /// The parts of the path between its slashes: the names of the folders, followed by the name of the file.
  var names: [FilePath] { bytes.split(separator: FilePath.slash).map { FilePath(bytes: $0) } }

  /// Returns the given path as a path in this folder, or unchanged if it is absolute.
  package func appending(_ path: FilePath) -> FilePath {
    if path.isAbsolute { return path }
    return FilePath(bytes: bytes + (bytes.last == FilePath.slash ? [] : [FilePath.slash]) + path.bytes)
  }

  /// Returns the path with a suffix at the end of its last name.
  package static func + (path: FilePath, suffix: String) -> FilePath { FilePath(bytes: path.bytes + suffix.utf8) }

  /// Calls `body` with the bytes as a C string.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    terminated.withUnsafeBytes { body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }

  private static let slash = UInt8(ascii: "/")
}

extension FilePath: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral string: String) { self.init(string) }

  /// The path as text, with `U+FFFD` for bytes that aren't UTF-8.
  package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FilePath {
  /// Creates the path of a file URL, byte for byte but without slashes at the end.
  ///
  /// - Throws: `.unreadable` for any other URL, and for a path that is empty or contains a zero byte.
  init(_ url: URL) throws(PreferenceError) {
    let notAFile = PreferenceError(
      .unreadable, "is not a file's URL; make one with URL(filePath:)", path: url.absoluteString)
    guard url.isFileURL else { throw notAFile }
    var bytes: [UInt8] = []
    var encoded = url.absoluteURL.path(percentEncoded: true).utf8[...]
    while let byte = encoded.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = encoded.popFirst().flatMap(Hexadecimal.value),
        let low = encoded.popFirst().flatMap(Hexadecimal.value)
      else { throw notAFile }
      bytes.append(UInt8(high << 4 | low))
    }
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    self.init(bytes: bytes)
    guard isValid else { throw notAFile }
  }

  /// The file URL of an absolute path, byte for byte.
  var url: URL {
    let text = bytes.map { byte in
      if FilePath.unescaped.contains(byte) { return String(Unicode.Scalar(byte)) }
      return (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
    return URL(string: "file://" + text.joined())!
  }

  /// The bytes that need no percent-encoding in the path of a URL.
  private static let unescaped = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=:@".utf8)

  /// Returns the contents of the file at the path; follows symbolic links.
  package func contents() throws(PreferenceError) -> [UInt8] {
    do throws(SystemError) {
      let system = FileSystem()
      return try Descriptor(try system.open(try system.resolve(self), for: .reading), of: system).readAll()
    } catch { throw PreferenceError.reading(error, path: description) }
  }
}
