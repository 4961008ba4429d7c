import Spellbook

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
    InitializerRegistry.preview(["focus.minutes": 50]) { FocusView() }
  }
#endif
