import Observation
import SpellTesting
import Spellbook
import Synchronization
import Testing

#if canImport(SwiftUI)
  import SwiftUI
#endif

protocol AudioPlayer: Sendable { func play(at volume: Int) }

final class Changes: Sendable {
  private let number = Atomic(0)
  var count: Int { number.load(ordering: .relaxed) }
  func add() { number.add(1, ordering: .relaxed) }
}

@MainActor @Observable final class SettingsModel {
  @ObservationIgnored @Preference var volume = 5
  @ObservationIgnored @Injected var player: any AudioPlayer
  var isMuted = false

  func apply() { player.play(at: isMuted ? 0 : volume) }
}

#if canImport(SwiftUI)
  struct SettingsView: View {
    @InjectedState var model: SettingsModel

    var body: some View {
      Stepper("Volume \(model.volume)", value: model.$volume.binding)
      Toggle("Mute", isOn: $model.isMuted)
      Button("Apply") { model.apply() }
    }
  }

  @MainActor func settings(in registry: InitializerRegistry) -> some View {
    SettingsView().registry(registry)
  }
#endif

/// The code samples of the article with this name.
@MainActor @Suite("Observable models", .registry) struct ObservableModels {
  private final class RecordingPlayer: AudioPlayer {
    let volumes = Mutex<[Int]>([])
    func play(at volume: Int) { volumes.withLock { $0.append(volume) } }
  }

  @Test("a preference of an observable model is tracked")
  func preference() {
    let model = SettingsModel()
    let changes = Changes()
    withObservationTracking {
      _ = model.volume
    } onChange: {
      changes.add()
    }
    SettingsModel().volume = 7
    #expect(changes.count == 1)
    #expect(model.volume == 7)
  }

  @Test("a service is injected into an observable model")
  func service() {
    let player = RecordingPlayer()
    InitializerRegistry.current.register(.instance(player as any AudioPlayer))
    let model = SettingsModel()
    model.apply()
    model.isMuted = true
    model.apply()
    #expect(player.volumes.withLock(\.self) == [5, 0])
  }
}
