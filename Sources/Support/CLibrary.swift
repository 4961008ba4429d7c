// The C library of each platform, imported in this one place: a file that calls it imports Support.

#if canImport(Darwin)
  @_exported public import Darwin
#elseif canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Android)
  @_exported public import Android
#elseif os(Windows)
  @_exported public import ucrt
#elseif canImport(WASILibc)
  @_exported public import WASILibc
#else
  #error("Spellbook doesn't know the C library of this platform. Add its module to this list.")
#endif

/// Writes text to the standard error, at once.
package func writeToStandardError(_ text: String) {
  let bytes = Array(text.utf8)
  #if os(Windows)
    _ = _write(2, bytes, UInt32(bytes.count))
  #else
    _ = write(STDERR_FILENO, bytes, bytes.count)
  #endif
}
