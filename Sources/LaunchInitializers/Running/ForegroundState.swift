/// What is known of the app's way between background and foreground.
struct ForegroundState {
  /// Whether the app went to the background and has not been seen to return.
  var isInBackground = false
  /// The pass under way.
  var pass: Task<LaunchReport, Never>?
  /// The steps of the pass under way.
  var run: StepRun?
  /// The pass after it, or after the launch.
  var next: Task<LaunchReport, Never>?
}
