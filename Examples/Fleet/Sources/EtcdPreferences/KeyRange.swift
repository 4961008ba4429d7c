internal import Foundation

/// The range of a store's keys in etcd: all keys that begin with a prefix.
///
/// The key that consists of the prefix alone isn't a preference, because a preference's key isn't empty. It has the name of the
/// store's last change, by which the store finds out whether a change was made if the answer was lost.
struct KeyRange: Sendable {
  /// The bytes of the prefix, and the first key of the range.
  let start: Data
  /// The first key after the range.
  let end: Data

  /// Creates a range; nil if the prefix is empty.
  init?(prefix: String) {
    start = Data(prefix.utf8)
    // UTF-8 has no byte 0xff, so adding one to the last byte can't overflow.
    guard let last = start.last else { return nil }
    end = start.dropLast() + [last + 1]
  }

  /// The first key that can be a preference.
  var firstValue: Data { start + [0] }

  /// Returns the key in etcd, in which all Unicode spellings of a preference's key have the same bytes.
  func key(for preference: String) -> Data { start + Data(preference.precomposedStringWithCanonicalMapping.utf8) }

  /// Returns the key of a preference; nil if the key in etcd isn't one.
  func preference(for key: Data) -> String? {
    guard key.count > start.count, key.starts(with: start),
      let preference = String(validating: key.dropFirst(start.count), as: UTF8.self),
      // Another program may have written two Unicode spellings of a key, which would be one key in the store.
      self.key(for: preference) == key
    else { return nil }
    return preference
  }
}
