import Support
import PreferenceStorage

/// A storage of texts by key, which several stores may share.
final class Medium: Sendable {
  struct Contents: Sendable {
    var order: [String] = []
    var texts: [String: String] = [:]
    var isReadable = true
    var isWritable = true
  }

  let contents = Lock(Contents())

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    try contents.withLock { contents throws(PreferenceError) in
      guard contents.isWritable else { throw PreferenceError(.unwritable, "the medium can't be written") }
      for change in changes { contents.apply(change) }
    }
  }
}

extension Medium.Contents {
  mutating func apply(_ change: PreferenceChange) {
    let old = texts.updateValue(change.json ?? "", forKey: change.key)
    if old == nil { order.append(change.key) }
    guard change.json == nil else { return }
    texts[change.key] = nil
    order.removeAll { $0 == change.key }
  }
}

/// A custom store: a copy of a medium, which the store reads again on `reload()`.
final class MediumStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let medium: Medium
  private let copy: Lock<Medium.Contents>

  init(_ medium: Medium = Medium()) {
    self.medium = medium
    copy = Lock(medium.contents.withLock { $0 })
  }

  var keys: [String] { copy.withLock(\.order) }

  func json(forKey key: String) throws(PreferenceError) -> String? {
    try copy.withLock { copy throws(PreferenceError) in
      guard copy.isReadable else { throw PreferenceError(.unreadable, "the medium can't be read", key: key) }
      return copy.texts[key]
    }
  }

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    try medium.write(changes)
    copy.withLock { copy in
      for change in changes { copy.apply(change) }
    }
  }

  func reload() throws(PreferenceError) {
    try hub.write {
      let new = medium.contents.withLock { $0 }
      return copy.withLock { copy in
        defer { copy = new }
        return Set(copy.order + new.order).filter { copy.texts[$0] != new.texts[$0] }
      }
    }
  }
}
