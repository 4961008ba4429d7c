#if os(Windows)
  /// A store in a file, which isn't written for Windows.
  @available(
    *, unavailable,
    message: "The file store isn't written for Windows. Use MemoryPreferenceStore, or implement CustomPreferenceStore."
  )
  public final class FilePreferenceStore {}
#endif
