import Foundation

extension URL {
  /// The contents of the file, as text.
  var text: String {
    get throws { try String(contentsOf: self, encoding: .utf8) }
  }

  /// The contents of the file.
  var contents: Data {
    get throws { try Data(contentsOf: self) }
  }

  /// Replaces the contents in place, so that the file stays the same file.
  func overwrite(_ text: String) throws { try Data(text.utf8).write(to: self) }

  /// Appends the text, as `>>` in a shell does.
  func append(_ text: String) throws {
    let handle = try FileHandle(forWritingTo: self)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  var mode: Int? {
    get throws {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
  }
}

/// Returns the processor time that the calling thread takes for the body.
///
/// Tests on other threads don't affect it.
func processorTime(of body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
  let start = now()
  try body()
  return now() - start
}

#if os(Linux)
  /// Returns the number of this process's descriptors that watch files.
  func watchDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
      // The descriptor of the listing itself is already closed.
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
      return target?.contains("inotify") == true
    }
  }
#endif
