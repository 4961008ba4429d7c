#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FilePreferenceStore {
  /// The program's own store: `settings.preferences` in a folder with the name of the process.
  ///
  /// The folder is in `$XDG_CONFIG_HOME` where that is an absolute path, else in `~/.config`; on Apple platforms in
  /// Application Support. It is opened at the first use, and its writes are `.written`.
  ///
  /// It never traps. If the file can't be opened every read and every write throws the reason, so that nothing is
  /// pretended to be kept; each write and each `reload()` tries to open it again.
  public static let standard = opening(FilePath(standardPath()), in: PosixFileSystem())

  static func opening(_ path: FilePath, in system: any FileSystem) -> FilePreferenceStore {
    let terms = WriteTerms(durability: .written, lockWaitLimit: defaultLockWaitLimit)
    do {
      return try FilePreferenceStore(sharing: path, terms, system: system)
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
    let name = process.isEmpty ? "program" : process
    #if canImport(Darwin)
      let folder = URL.applicationSupportDirectory.path
    #else
      let configuration = environment["XDG_CONFIG_HOME"] ?? ""
      let folder =
        configuration.hasPrefix("/")
        ? configuration : FileManager.default.homeDirectoryForCurrentUser.path + "/.config"
    #endif
    return folder + "/" + name + "/settings.preferences"
  }
}
