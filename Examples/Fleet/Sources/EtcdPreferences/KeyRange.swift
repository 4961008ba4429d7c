internal import Foundation

/// The range of a store's keys in etcd, which are all keys that begin with a prefix.
///
/// The key that consists of the prefix alone isn't a preference, because a preference's key isn't empty. Its value is
/// the name of the store's last change. If etcd's answer to a change is lost, the name shows whether the change was
/// made.
struct KeyRange: Sendable {
  /// The bytes of the prefix, which are also the first key of the range.
  let start: Data
  /// The first key after the range.
  let end: Data

  /// Creates a range from a prefix, or nil if the prefix is empty.
  init?(prefix: String) {
    start = Data(prefix.utf8)
    // UTF-8 has no byte 0xff, so adding one to the last byte can't overflow.
    guard let last = start.last else { return nil }
    end = start.dropLast() + [last + 1]
  }

  /// The first key that can be a preference.
  var firstValue: Data { start + [0] }

  /// Returns the key in etcd for a preference's key, with equal bytes for all Unicode spellings of the preference's
  /// key.
  func key(for preference: String) -> Data { start + Data(preference.precomposedStringWithCanonicalMapping.utf8) }

  /// Returns the preference's key for a key in etcd, or nil if the key in etcd isn't for a preference.
  func preference(for key: Data) -> String? {
    guard key.count > start.count, key.starts(with: start),
      let preference = String(validating: key.dropFirst(start.count), as: UTF8.self),
      // Another program may have written two Unicode spellings of a key, but the store has only one key for both.
      self.key(for: preference) == key
    else { return nil }
    return preference
  }
}
