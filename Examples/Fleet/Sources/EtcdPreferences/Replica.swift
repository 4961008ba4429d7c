internal import Foundation

/// A copy of the values in etcd, which applies etcd's answers in any order.
///
/// Each value has the revision of its last change, and never replaces a newer value. The answer to the store's own
/// change, the watch's event for the change, and a read of all values may therefore arrive in any order.
struct Replica: Sendable {
  struct Entry: Sendable {
    var json: String
    var created: Revision
    var modified: Revision
  }

  private(set) var entries: [String: Entry] = [:]
  /// The keys that were removed after `revision`, with the revisions of their removal.
  private var removals: [String: Revision] = [:]
  /// The revision up to which the copy has every change.
  private(set) var revision = Revision.none
  /// The newest known revision, which may be newer than `revision` because of the store's own changes.
  private(set) var newest = Revision.none
  private var cluster: String?

  init() {}

  /// Creates a copy with the values of a snapshot, which count as older than all values in etcd.
  init(snapshot: [(key: String, json: String)]) {
    for (index, value) in snapshot.enumerated() {
      entries[value.key] = Entry(
        json: value.json, created: Revision(Int64(index - snapshot.count)), modified: .none)
    }
  }

  /// The keys, sorted by their first write, and by name if one change created several keys.
  var keys: [String] {
    entries.sorted { ($0.value.created, $0.key) < ($1.value.created, $1.key) }.map(\.key)
  }

  /// Returns the revision of the key's last change, or none if the key has no value.
  func modified(_ key: String) -> Revision { entries[key]?.modified ?? .none }

  /// Applies a read of all values, and returns the keys whose values have changed.
  ///
  /// - Parameters:
  ///   - values: All values that etcd has.
  ///   - header: The header of etcd's answer, with its revision.
  ///   - known: The value of `newest` at the time of the request. If etcd's revision is lower, etcd was restored from a
  ///     backup, and has a new history.
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
    // The copy already has every change up to a newer revision, and may have forgotten earlier removals.
    if read < revision { return [] }
    for key in entries.filter({ $0.value.modified <= read }).keys { entries[key] = nil }
    for value in values where isNews(value.entry.modified, of: value.key) { entries[value.key] = value.entry }
    advance(to: read)
    return Set(entries.keys).union(old.entries.keys).filter { entries[$0]?.json != old.entries[$0]?.json }
  }

  /// Applies a key's entry at a revision, or its removal if the entry is nil, and returns whether the value has
  /// changed.
  mutating func apply(_ entry: Entry?, to key: String, at read: Revision) -> Bool {
    newest = max(newest, read)
    let old = entries[key]
    let modified = entry?.modified ?? read
    // The answer to the store's own change doesn't say when the key was created, so later information corrects
    // `created`.
    if let entry, entry.modified == old?.modified { entries[key]?.created = entry.created }
    // A key that is in neither `entries` nor `removals` had no value at `revision`.
    let isUnknown = old == nil && removals[key] == nil
    guard isNews(modified, of: key), !isUnknown || modified > revision else { return false }
    entries[key] = entry
    removals[key] = entry == nil && modified > revision ? modified : nil
    return old?.json != entry?.json
  }

  /// Applies the store's own change to a key, and returns whether the value has changed.
  mutating func commit(_ json: String?, to key: String, at revision: Revision) -> Bool {
    let created = entries[key]?.created ?? revision
    return apply(json.map { Entry(json: $0, created: created, modified: revision) }, to: key, at: revision)
  }

  /// Records that the copy has every change up to a revision, and forgets earlier removals.
  mutating func advance(to read: Revision) {
    revision = max(revision, read)
    newest = max(newest, read)
    removals = removals.filter { $0.value > revision }
  }

  /// Returns whether a change with this revision is newer than the copy's state of the key.
  private func isNews(_ modified: Revision, of key: String) -> Bool {
    if let removal = removals[key] { return modified > removal }
    if let entry = entries[key] { return modified > entry.modified }
    return true
  }
}
