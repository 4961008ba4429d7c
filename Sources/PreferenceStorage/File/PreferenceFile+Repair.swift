#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PreferenceFile {
  /// Puts a new file without the damage in the place of this one, which is locked for writing, and keeps the
  /// old one under another name.
  ///
  /// Where that can't be done the damage stays, and is skipped.
  mutating func repair() {
    needsRepair = false
    guard readOnly == nil else { return }
    let copy: URL
    do throws(SystemError) {
      copy = try copyAside()
    } catch {
      return values.errors.report(.writing(error, path: path))
    }
    do throws(PreferenceError) {
      try rewrite()
      recovery?.copy = copy
    } catch {
      values.errors.report(error)
      // Nothing was dropped, so there is nothing to keep a copy of.
      do throws(SystemError) {
        try system.remove(copy.path)
      } catch {}
    }
  }

  /// Copies the file as it is to `….damaged-<time>` and returns where that is.
  mutating func copyAside() throws(SystemError) -> URL {
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
    return URL(filePath: copyPath)
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
