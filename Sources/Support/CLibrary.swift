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
