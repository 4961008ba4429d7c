#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An error of reading or writing a preference.
///
/// The description says what happened, where, and what to do about it. The code tells a program what to do.
///
/// ```swift
/// do throws(PreferenceError) {
///   try store.set(7, forKey: "volume")
/// } catch where error.code == .noSpace {
///   askForSpace()
/// }
/// ```
public struct PreferenceError: LocalizedError, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public let code: Code
  /// The key that was asked for, if the failure is about one.
  public let key: String?
  /// The path of the file, if there is one.
  public let path: String?
  /// The error that caused this one.
  public let underlying: (any Error)?
  package let message: String

  /// An error that a store of your own throws.
  ///
  /// The message says what happened and what to do, in a sentence without a capital at its beginning.
  public init(
    _ code: Code, _ message: String, key: String? = nil, path: String? = nil, underlying: (any Error)? = nil
  ) {
    (self.code, self.message, self.key, self.path, self.underlying) = (code, message, key, path, underlying)
  }

  /// The failure, its place, and the remedy.
  public var description: String {
    var place: [String] = []
    if let key { place.append("key \(PreferenceError.shortened(key).debugDescription)") }
    if let path { place.append(path) }
    let cause = underlying.map { " [\($0)]" } ?? ""
    return (place.isEmpty ? "" : place.joined(separator: " in ") + ": ") + message + cause
  }

  /// The description.
  public var errorDescription: String? { description }

  /// Returns the error with the path of the file in which it happened.
  package func at(_ path: String?) -> PreferenceError {
    PreferenceError(code, message, key: key, path: self.path ?? path, underlying: underlying)
  }

  private static func shortened(_ key: String) -> String {
    key.unicodeScalars.count > 80 ? String(key.unicodeScalars.prefix(77)) + "..." : key
  }
}

extension PreferenceError {
  /// The kinds of failure; more may come.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// The stored value can't be read as the type that was asked for, and is kept as it is.
    public static let typeMismatch = Code("typeMismatch")
    /// The value can't be encoded, and nothing was written.
    public static let invalidValue = Code("invalidValue")
    /// The key is empty or longer than 65,536 bytes of UTF-8.
    public static let invalidKey = Code("invalidKey")
    /// The path names no preferences file, but other text, a folder, or a device, which was not touched.
    public static let notAPreferencesFile = Code("notAPreferencesFile")
    /// The file was written by a later version of this library, and was not touched.
    public static let laterVersion = Code("laterVersion")
    /// The file exists and can't be read.
    public static let unreadable = Code("unreadable")
    /// The change can't be written; file and memory are as they were before it.
    public static let unwritable = Code("unwritable")
    /// The disk, the quota or the process's limit is used up; file and memory are as they were before the change.
    public static let noSpace = Code("noSpace")
    /// Others can write the folder, and so could put a file of their own in the place of this one.
    public static let insecureFolder = Code("insecureFolder")
    /// A store was written to from within a transaction on the same file.
    public static let nestedTransaction = Code("nestedTransaction")
    /// Another user could change the file, and that right could not be taken from them; the file was not read.
    public static let insecureFile = Code("insecureFile")
    /// The file can't be watched now, which is tried again every second; a write or a reload sees others' changes.
    public static let unwatchable = Code("unwatchable")
    /// Another process or thread kept the store's lock for longer than the limit; the change was not made.
    public static let busy = Code("busy")
    /// The store belongs to the process from which this one was forked off.
    public static let forked = Code("forked")
    /// Another program has put an older or an edited file in the place of this one, which lacks what was set last.
    public static let overwritten = Code("overwritten")
  }
}
