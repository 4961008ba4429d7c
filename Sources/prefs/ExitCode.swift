import PreferenceStorage

/// How the tool ends, in the numbers of `sysexits.h` where there is one.
enum ExitCode: Int32 {
  case success = 0
  case notFound = 1
  case usage = 64
  case damaged = 65
  case inputOutput = 74
  case busy = 75

  init(_ code: PreferenceError.Code) {
    switch code {
    case .notAPreferencesFile, .laterVersion, .typeMismatch: self = .damaged
    case .invalidKey, .invalidValue: self = .usage
    case .busy: self = .busy
    default: self = .inputOutput
    }
  }
}
