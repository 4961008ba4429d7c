import Spellbook

/// A registry for previews, with the keys' values for previews and with preferences in memory.
enum Preview {
  static func run<Result>(
    _ preferences:
      @autoclosure @escaping @Sendable ()
      -> KeyValuePairs<String, any Codable> = [:],
    _ make: () throws -> Result
  ) rethrows -> Result {
    let registry = InitializerRegistry(context: .preview)
    registry.register((any PreferenceStore).self, scope: .singleton) {
      try MemoryPreferenceStore(preferences())
    }
    return try registry.run(make)
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  struct FocusView: View {
    @State private var model = FocusModel()
    @State private var isRunning = false

    var body: some View {
      Form {
        Text(model.title)
        Stepper("Minutes", value: model.$minutes.binding, in: 1...90)
        Toggle("Ring at the end", isOn: model.$rings.binding)
        Button(isRunning ? "Stop" : "Start") { isRunning.toggle() }
      }
      .task(id: isRunning) {
        guard isRunning else { return }
        await model.run()
        isRunning = false
      }
    }
  }

  struct HistoryView: View {
    @State private var model = HistoryModel()
    var body: some View { Text(model.summary) }
  }

  #Preview {
    Preview.run(["focus.minutes": 50]) { FocusView() }
  }
#endif
