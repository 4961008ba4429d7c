import Spellbook

#if canImport(SwiftUI)
  import SwiftUI

  struct FocusView: View {
    @InjectedState(.focusModel) var model
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
    @InjectedState(.historyModel) var model
    var body: some View { Text(model.summary) }
  }

  /// The app's scenes, which are one window with two pages, the timer and the history.
  struct FocusScenes: Scene {
    let registry: InitializerRegistry

    var body: some Scene {
      WindowGroup {
        NavigationStack {
          List {
            NavigationLink("Focus") { FocusView() }
            NavigationLink("History") { HistoryView() }
          }
        }
      }
      .registry(registry)
    }
  }

  #Preview(traits: .registry(["focus.minutes": 50])) { FocusView() }
#endif
