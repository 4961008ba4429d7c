internal import Foundation

/// A copy of the values in etcd: a pure value, to which the answers are applied in any order.
///
/// Each value has the revision of its last change, and what is older never replaces what is newer. So the answer to the
/// store's own change, the watch's notice of it, and a read of everything may come in any order.
struct Replica: Sendable {
  struct Entry: Sendable {
    var json: String
    var created: Revision
    var modified: Revision
  }

  private(set) var entries: [String: Entry] = [:]
  /// The keys that were removed after `revision`, with the revision of their removal.
  private var removals: [String: Revision] = [:]
  /// The revision up to which every change is here.
  private(set) var revision = Revision.none
  /// The latest revision that was heard of; that of the store's own change may be later than `revision`.
  private(set) var newest = Revision.none
  private var cluster: String?

  init() {}

  /// Creates a copy with a snapshot's values in their order, as if they were older than anything in etcd.
  init(snapshot: [(key: String, json: String)]) {
    for (index, value) in snapshot.enumerated() {
      entries[value.key] = Entry(
        json: value.json, created: Revision(Int64(index - snapshot.count)), modified: .none)
    }
  }

  /// The keys, sorted by first writing.
  ///
  /// Keys that one change created are sorted by themselves.
  var keys: [String] {
    entries.sorted { ($0.value.created, $0.key) < ($1.value.created, $1.key) }.map(\.key)
  }

  /// The revision of the key's last change; none if the key isn't there.
  func modified(_ key: String) -> Revision { entries[key]?.modified ?? .none }

  /// Applies everything that there is at a revision, and returns the keys whose value is another now.
  ///
  /// - Parameters:
  ///   - values: Every value.
  ///   - header: That of the answer.
  ///   - known: `newest` when it was asked for. If etcd is behind that, it was restored from a backup and begins a new history.
  mutating func load(
    _ values: [(key: String, entry: Entry)], _ header: ResponseHeader, knownBefore known: Revision
  ) -> Set<String> {
    let read = header.revision ?? .none
    let isOther = (cluster != nil && header.clusterId != cluster) || read < known
    cluster = header.clusterId
    let old = self
    if isOther {
      entries = [:]
      removals = [:]
      (revision, newest) = (.none, .none)
    }
    for key in entries.filter({ $0.value.modified <= read }).keys { entries[key] = nil }
    for value in values where isNews(value.entry.modified, of: value.key) { entries[value.key] = value.entry }
    advance(to: read)
    return Set(entries.keys).union(old.entries.keys).filter { entries[$0]?.json != old.entries[$0]?.json }
  }

  /// Applies what one key has at a revision: a value, or none.
  ///
  /// Returns whether its value is another now.
  mutating func apply(_ entry: Entry?, to key: String, at read: Revision) -> Bool {
    newest = max(newest, read)
    let old = entries[key]
    let modified = entry?.modified ?? read
    // The answer to the store's own change doesn't say since when the key is there.
    if let entry, entry.modified == old?.modified { entries[key]?.created = entry.created }
    guard isNews(modified, of: key) else { return false }
    entries[key] = entry
    removals[key] = entry == nil && modified > revision ? modified : nil
    return old?.json != entry?.json
  }

  /// Applies the store's own change of a key, which was made at a revision.
  mutating func commit(_ json: String?, to key: String, at revision: Revision) -> Bool {
    let created = entries[key]?.created ?? revision
    return apply(json.map { Entry(json: $0, created: created, modified: revision) }, to: key, at: revision)
  }

  /// Notes that every change up to the revision is here.
  mutating func advance(to read: Revision) {
    revision = max(revision, read)
    newest = max(newest, read)
    removals = removals.filter { $0.value > revision }
  }

  /// Whether a change of that revision is later than what is here of the key.
  private func isNews(_ modified: Revision, of key: String) -> Bool {
    if let removal = removals[key] { return modified > removal }
    if let entry = entries[key] { return modified > entry.modified }
    return true
  }
}
