#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PreferenceFile {
  /// Whether a repair is due: not for a file that may only be read, and not again and again where it fails.
  var needsRepair: Bool { isDamaged && !repairFailed && readOnly == nil }

  /// Puts a new file without the damage in the place of this one, which is locked for writing.
  ///
  /// Where that can't be done the damage stays, and is skipped.
  mutating func repair() {
    do throws(PreferenceError) {
      try rewrite()
    } catch {
      repairFailed = true
      values.errors.report(error)
    }
  }

  /// Tells where the file is kept as it was found.
  func noteCopy(_ path: String) { recovery?.copy = URL(filePath: path) }

  /// Copies the file as it is to `….damaged-<time>` and returns where that is.
  mutating func copyAside() throws(SystemError) -> String {
    guard let descriptor else { throw SystemError.replaced("copy") }
    let (copy, copyPath) = try makeCopy()
    do throws(SystemError) {
      var offset = 0
      while true {
        let bytes = try descriptor.read(from: offset, to: offset + 1 << 18)
        if bytes.isEmpty { break }
        offset += bytes.count
        try checkLimit(offset)
        try copy.append(bytes)
      }
      try system.synchronize(copy.number)
      try system.synchronizeFolder(location.folder)
    } catch {
      try system.remove(copyPath)
      throw error
    }
    return copyPath
  }

  /// A new, empty file whose name says when it was made.
  private func makeCopy() throws(SystemError) -> (Descriptor, String) {
    let time = Date().formatted(
      .iso8601.year().month().day().dateSeparator(.dash).time(includingFractionalSeconds: false)
        .timeSeparator(.omitted))
    var path = "\(path).damaged-\(time)"
    var number = 1
    while true {
      do throws(SystemError) {
        return (Descriptor(try system.open(path, for: .creating), of: system), path)
      } catch {
        guard error.isTaken else { throw error }
        number += 1
        path = "\(self.path).damaged-\(time)-\(number)"
      }
    }
  }
}
