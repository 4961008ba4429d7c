#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// One variable of the process's environment; nil where it is not set.
func processVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
