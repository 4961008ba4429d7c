#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An error in reading or writing a preference.
///
/// The `description` tells a person what happened, where, and what to do. A program checks the `code` instead.
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
  /// The key that was read or written, if the failure concerns a single key.
  public let key: String?
  /// The path of the file or the folder that the failure concerns, if there is one.
  public let path: String?
  /// The error that caused this error, such as a decoding error; nil if there is no such cause.
  public let underlying: (any Error)?
  package let message: String

  /// Creates an error for a custom store to throw.
  ///
  /// The message should say in one sentence what happened and what to do. Begin it with a lowercase letter, because the
  /// description puts the key and the path before it.
  public init(
    _ code: Code, _ message: String, key: String? = nil, path: String? = nil, underlying: (any Error)? = nil
  ) {
    (self.code, self.message, self.key, self.path, self.underlying) = (code, message, key, path, underlying)
  }

  /// The key and the path if there are any, the message, and the underlying error.
  ///
  /// The value in a decoding or encoding error is left out, because the value may be a secret.
  public var description: String {
    let place = [key.map { "key \(PreferenceError.shortened($0).debugDescription)" }, path].compactMap(\.self)
    var cause = underlying.map { " [\($0)]" } ?? ""
    if case DecodingError.dataCorrupted(let it)? = underlying { cause = " [at \(it.codingPath.map(\.stringValue))]" }
    if case EncodingError.invalidValue(_, let it)? = underlying { cause = " [\(it.debugDescription)]" }
    return (place.isEmpty ? "" : place.joined(separator: " in ") + ": ") + message + cause
  }

  /// The ``description``, for code that handles any `LocalizedError`.
  public var errorDescription: String? { description }

  /// Returns a copy of the error that has this path, if the error has no path of its own.
  package func at(_ path: String?) -> PreferenceError {
    PreferenceError(code, message, key: key, path: self.path ?? path, underlying: underlying)
  }

  /// Whether the error means that the store must not use the file or folder that is now at the path.
  var isOfAnotherFile: Bool { [.notAPreferencesFile, .laterVersion, .insecureFile, .insecureFolder].contains(code) }

  /// Whether the error means that the file's place, or the rights in it, don't allow the store to open or write the file.
  var isOfPlace: Bool { [.unreadable, .unwritable, .insecureFolder, .insecureFile].contains(code) }

  private static func shortened(_ key: String) -> String {
    key.unicodeScalars.count > 80 ? String(key.unicodeScalars.prefix(77)) + "..." : key
  }
}

extension PreferenceError {
  /// A kind of failure; later versions may add more kinds.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code, such as `noSpace`.
    public let description: String

    private init(_ name: String) { description = name }

    /// The stored value, or an override such as a command-line argument, can't be read as the requested type.
    ///
    /// The store keeps the stored value.
    public static let typeMismatch = Code("typeMismatch")
    /// The value can't be encoded, or the text given for it isn't JSON; the value wasn't written.
    public static let invalidValue = Code("invalidValue")
    /// The key is empty or longer than 65,536 bytes of UTF-8.
    public static let invalidKey = Code("invalidKey")
    /// The path leads to a folder, a device or another program's file, which the store didn't change.
    public static let notAPreferencesFile = Code("notAPreferencesFile")
    /// The file has the format of a later version of this library, and wasn't changed.
    public static let laterVersion = Code("laterVersion")
    /// The file can't be read or imported, or its URL isn't a file URL.
    ///
    /// The code is also used if the store that is registered for a property couldn't be created.
    public static let unreadable = Code("unreadable")
    /// The file can't be written.
    ///
    /// The change wasn't made, except if the failure was in synchronizing or compacting the file after the change.
    public static let unwritable = Code("unwritable")
    /// The disk, the quota, or the file-size limit is exhausted.
    ///
    /// The change wasn't made, except if the failure was in synchronizing or compacting the file after the change.
    public static let noSpace = Code("noSpace")
    /// Another user could replace the file.
    ///
    /// The other user owns a folder in the file's path, or has write access to it.
    public static let insecureFolder = Code("insecureFolder")
    /// A store was written to, reloaded, synchronized, or opened within a transaction on the same store or file.
    public static let nestedTransaction = Code("nestedTransaction")
    /// Another user owns the file, so it wasn't read, or has write access that a write couldn't revoke.
    public static let insecureFile = Code("insecureFile")
    /// The file can't be watched now, so changes by other processes may be noticed late.
    ///
    /// Once a second, the store looks for changes and tries again to watch the file. A forked child does neither.
    public static let unwatchable = Code("unwatchable")
    /// Other processes or threads were using the store, so a change wasn't made.
    ///
    /// They held the store's lock for longer than the time limit, or changed the value again at each attempt to set it.
    public static let busy = Code("busy")
    /// The parent process opened the store before it forked this process.
    public static let forked = Code("forked")
  }
}
