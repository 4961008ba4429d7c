#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension PreferenceError {
  /// What a failed call means to someone who wanted to write.
  static func writing(_ error: SystemError, path: String) -> PreferenceError {
    switch error.number {
    case ENOSPC, EDQUOT:
      PreferenceError(
        .noSpace, "no space is left for the change, which was not made; free some and set the value again",
        path: path, underlying: error)
    case EFBIG:
      PreferenceError(
        .noSpace, "the file may not grow further (ulimit -f), and the change was not made; raise the limit",
        path: path, underlying: error)
    case EACCES, EPERM, EROFS:
      PreferenceError(
        .unwritable,
        "may not be written, and the change was not made; check the owner and the permissions"
          + " of the file and its folder", path: path, underlying: error)
    default:
      PreferenceError(
        .unwritable, "could not be written, and the change was not made; set the value again",
        path: path, underlying: error)
    }
  }

  /// What a failed call means to someone who wanted to read.
  static func reading(_ error: SystemError, path: String) -> PreferenceError {
    let advice =
      switch error.number {
      case EACCES, EPERM: "may not be read; check the owner and the permissions of the file and its folder"
      case ELOOP: "is a symbolic link that leads in a circle; remove it"
      case ENOTDIR: "has a file where a folder should be; choose another place"
      case ENAMETOOLONG: "is too long for a path; choose a shorter one"
      default: "could not be read"
      }
    return PreferenceError(.unreadable, advice, path: path, underlying: error)
  }
}

extension SystemError {
  /// There is nothing at the path.
  var isMissing: Bool { number == ENOENT }
  /// There is something at the path already.
  var isTaken: Bool { number == EEXIST }
  /// Reading may still be allowed.
  var isRefusal: Bool { number == EACCES || number == EPERM || number == EROFS }

  static var circle: SystemError { SystemError("readlink", ELOOP) }
  static func notPermitted(_ call: String) -> SystemError { SystemError(call, EPERM) }
  static func replaced(_ call: String) -> SystemError { SystemError(call, ESTALE) }
  static func tooLarge(_ call: String) -> SystemError { SystemError(call, EFBIG) }
}
