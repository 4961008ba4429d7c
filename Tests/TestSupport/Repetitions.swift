/// Returns how often a test repeats what it does: a debug build shows that the test passes, and a release build looks for
/// what happens rarely.
///
/// A release build makes the same number of attempts in a fraction of the time.
package func repetitions(debug: Int, release: Int) -> Int {
  #if DEBUG
    return debug
  #else
    return release
  #endif
}
