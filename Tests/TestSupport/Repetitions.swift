/// Returns how often a test repeats its work: few times in a debug build, and many in a release build, to find rare
/// failures.
///
/// A release build needs a fraction of the time for each repetition.
package func repetitions(debug: Int, release: Int) -> Int {
  #if DEBUG
    return debug
  #else
    return release
  #endif
}
