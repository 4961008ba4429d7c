internal import Foundation
internal import PreferenceStorage

/// The file in which a store keeps its values for a start without etcd.
struct Snapshot {
  let file: FilePreferenceStore
  let values: [(key: String, json: String)]
  /// The reason that an unreadable file was moved away, with the file's new path, or nil if no file was moved.
  private(set) var failure: PreferenceError?

  /// Opens the snapshot, after moving an unreadable file away if its values are available in etcd.
  ///
  /// - Parameter isInEtcd: A closure that returns whether the values are available in etcd. It is called at most once.
  /// - Throws: The reason that the file can't be read.
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

  /// The error codes of problems that moving the file away can solve.
  ///
  /// A folder that other users can write to isn't among these problems.
  private static let reasonsToSetAside: [PreferenceError.Code] = [
    .notAPreferencesFile, .laterVersion, .unreadable, .insecureFile,
  ]

  /// Moves the file to an unused name in its folder, and returns the file's new URL.
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
