internal import Foundation
internal import PreferenceStorage

/// The file in which a store keeps its values for a start without etcd.
struct Snapshot {
  let file: FilePreferenceStore
  let values: [(key: String, json: String)]
  /// The reason why an unreadable file was moved away when the snapshot was opened, with its new place; nil if none was.
  private(set) var failure: PreferenceError?

  /// Opens the snapshot; moves a file away that can't be read, if its values are available in etcd.
  ///
  /// - Parameter isInEtcd: Returns whether the values are available in etcd; called at most once.
  /// - Throws: The reason why the file can't be read.
  init(at url: URL, ifUnreadable isInEtcd: () -> Bool) throws(PreferenceError) {
    do throws(PreferenceError) {
      try self.init(at: url)
    } catch {
      guard Snapshot.reasonsToSetAside.contains(error.code), isInEtcd() else { throw error }
      let place = try Snapshot.setAside(url, because: error)
      try self.init(at: url)
      failure = PreferenceError(
        error.code,
        "the snapshot can't be read and was moved to \(place.path), since etcd has its values; remove it there",
        path: url.path, underlying: error)
    }
  }

  private init(at url: URL) throws(PreferenceError) {
    file = try FilePreferenceStore(url: url, followsOthers: false)
    var values: [(key: String, json: String)] = []
    for key in file.keys {
      if let json = try file.json(forKey: key) { values.append((key, json)) }
    }
    self.values = values
  }

  /// The kinds of failure that moving the file away ends; a folder that others can write to isn't one of them.
  private static let reasonsToSetAside: [PreferenceError.Code] = [
    .notAPreferencesFile, .laterVersion, .unreadable, .insecureFile,
  ]

  /// Moves the file to a name that is free, and returns its new place.
  private static func setAside(_ url: URL, because error: PreferenceError) throws(PreferenceError) -> URL {
    let files = FileManager.default
    let places = (1...).lazy.map { url.appendingPathExtension($0 == 1 ? "unreadable" : "unreadable-\($0)") }
    let place = places.first { !files.fileExists(atPath: $0.path) }!
    do { try files.moveItem(at: url, to: place) } catch let obstacle {
      throw PreferenceError(
        error.code,
        "the snapshot can't be read, and can't be moved away either (\(obstacle)); remove it, or name another file",
        path: url.path, underlying: error)
    }
    return place
  }
}
