internal import Foundation

/// The part of etcd that a store has: the keys that begin with a prefix.
///
/// The key that is the prefix and nothing else isn't a preference, as a preference's key isn't empty. The store keeps the name of
/// its last change there, by which a change is found again whose answer was lost.
struct KeyRange: Sendable {
  /// The prefix's bytes, and the first key of the range.
  let start: Data
  /// The first key after the range.
  let end: Data

  /// Nil if the prefix is empty.
  init?(prefix: String) {
    start = Data(prefix.utf8)
    // UTF-8 has no byte 0xff, so the last byte has a next one.
    guard let last = start.last else { return nil }
    end = start.dropLast() + [last + 1]
  }

  /// The first key that can be a preference's.
  var firstValue: Data { start + [0] }

  /// Returns the key in etcd: all spellings of a key have the same bytes there.
  func key(for preference: String) -> Data { start + Data(preference.precomposedStringWithCanonicalMapping.utf8) }

  /// Returns the preference's key; nil if it isn't one.
  func preference(for key: Data) -> String? {
    guard key.count > start.count, key.starts(with: start),
      let preference = String(validating: key.dropFirst(start.count), as: UTF8.self),
      // Two spellings of a key, of which another program has put one, would be one key here.
      self.key(for: preference) == key
    else { return nil }
    return preference
  }
}
