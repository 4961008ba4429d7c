// A program ends with the exit code that `run(on:)` returns. The C function that ends it comes with this module, so that
// the program needs no other import.

#if canImport(Darwin)
  @_exported public import func Darwin.exit
#elseif canImport(Glibc)
  @_exported public import func Glibc.exit
#elseif canImport(Musl)
  @_exported public import func Musl.exit
#elseif canImport(Android)
  @_exported public import func Android.exit
#elseif os(Windows)
  @_exported public import func ucrt.exit
#elseif canImport(WASILibc)
  @_exported public import func WASILibc.exit
#endif
