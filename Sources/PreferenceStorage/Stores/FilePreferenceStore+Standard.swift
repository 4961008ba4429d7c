#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FilePreferenceStore {
  /// The program's own store: `settings.preferences` in a folder with the name of the program.
  ///
  /// The folder is in `$XDG_CONFIG_HOME`, or else in `$HOME/.config`, if these are absolute paths. On Apple platforms it is in
  /// Application Support, with the name of the bundle's identifier if there is one. A tvOS device has no such place: there it is
  /// in Caches, which the system may empty while the app isn't running. The store is opened at the first use, its writes are
  /// `.written`, and nothing is made before a write.
  ///
  /// It never traps. If the file can't be opened, every read and every write throws the reason, so that nothing is
  /// pretended to be kept. Each write and `reload()` tries to open it again, and so do reads, ten times a second at most.
  ///
  /// A property that is read under a test runner, with no store registered, has ``MemoryPreferenceStore/sharedInTests`` instead, so that tests
  /// don't write to a person's own file.
  public static let standard = opening(FilePath(standardPath()), in: PosixFileSystem())

  static func opening(_ path: FilePath, in system: any FileSystem) -> FilePreferenceStore {
    let terms = WriteTerms(durability: .written, lockWaitLimit: defaultLockWaitLimit)
    do {
      return try FilePreferenceStore(sharing: path, terms, makingFolder: false, system: system)
    } catch {
      let file = ProcessFile(at: FileLocation(unresolved: path), in: system)
      file.contents.fail(with: error)
      return FilePreferenceStore(file, terms)
    }
  }

  static func standardPath(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    process: String = ProcessInfo.processInfo.processName
  ) -> String {
    var name = process.isEmpty ? "program" : process
    #if canImport(Darwin)
      // Two programs may have one name, and no two have one identifier.
      if let identifier = Bundle.main.bundleIdentifier { name = identifier }
      #if os(tvOS)
        let folder = URL.cachesDirectory.path
      #else
        let folder = URL.applicationSupportDirectory.path
      #endif
    #else
      let home = absolutePath(environment["HOME"]) ?? FileManager.default.homeDirectoryForCurrentUser.path
      let folder = absolutePath(environment["XDG_CONFIG_HOME"]) ?? home + "/.config"
    #endif
    return folder + "/" + name + "/settings.preferences"
  }

  private static func absolutePath(_ path: String?) -> String? {
    path.flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
