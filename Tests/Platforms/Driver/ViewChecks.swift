import Combine
import InjectedSpell
import Observation
import PreferenceSpell
import SpellRegistry
import Spellbook
import SwiftUI
import Synchronization

private protocol Artist: Sendable { var name: String { get } }
private struct Named: Artist { let name: String }

/// The number of models that are alive; the checks run on one thread.
private enum Live {
  static let number = Atomic(0)
  static var count: Int { number.load(ordering: .relaxed) }
  static func add(_ change: Int) { number.add(change, ordering: .relaxed) }
}

@Observable private final class Album {
  init() { Live.add(1) }
  deinit { Live.add(-1) }
  var title = "First"
  @ObservationIgnored @Injected private var artist: any Artist
  @ObservationIgnored @Preference("sales") var sales = 0
  var text: String { "\(title) by \(artist.name), \(sales)" }
}

private final class Player: ObservableObject {
  init() { Live.add(1) }
  deinit { Live.add(-1) }
  let objectWillChange = ObservableObjectPublisher()
  var track = 1 {
    willSet { objectWillChange.send() }
  }
}

extension InjectionKeys {
  fileprivate static let artist = InjectionKey<any Artist>(scope: .singleton) { Named(name: "live") }
    .preview { Named(name: "preview") }
}

/// The objects and bindings of the latest views.
///
/// `@unchecked Sendable`: only the thread of the checks uses it.
private final class Seen: @unchecked Sendable {
  weak var album: Album?
  weak var player: Player?
  var title: Binding<String>?
  var track: Binding<Int>?
  var registry: InitializerRegistry?
}

private let seen = Seen()

private struct AlbumView: View {
  @InjectedState var album: Album
  @Environment(\.registry) var registry
  var body: some View {
    let _ = (seen.title, seen.registry) = ($album.title, registry)
    Text(album.text)
  }
}

private struct ShelfView: View {
  var body: some View { AlbumView() }
}

private struct PlayerView: View {
  @InjectedState var player: Player
  var body: some View {
    let _ = seen.track = $player.track
    Text("track \(player.track)")
  }
}

private struct ArtistView: View {
  @InjectedState(.artist) var artist
  var body: some View { Text(artist.name) }
}

private func albums(of artist: String = "Ada") -> InitializerRegistry {
  let registry = InitializerRegistry()
  registry.register {
    let album = Album()
    seen.album = album
    return album
  }
  registry.register {
    let player = Player()
    seen.player = player
    return player
  }
  registry.register((any Artist).self) { Named(name: artist) }
  registry.register((any PreferenceStore).self, scope: .singleton) { MemoryPreferenceStore() }
  return registry
}

@MainActor func checkViews() async {
  await check("a view that is created 1,000 times keeps its model, and the end of the view releases it") {
    let registry = albums()
    var isShown = true
    let tree = Tree { isShown ? AlbumView().registry(registry) as any View : EmptyView() }
    let first = seen.album.map(ObjectIdentifier.init)
    for _ in 1...1000 { tree.update() }
    guard tree.texts == ["First by Ada, 0"], first != nil, seen.album.map(ObjectIdentifier.init) == first else {
      return false
    }
    isShown = false
    tree.update()
    (seen.title, seen.registry) = (nil, nil)
    return tree.texts.isEmpty && seen.album == nil
  }
  await check("neither the tree of views nor a model keeps the other, or a registry, alive") {
    weak var registry: InitializerRegistry?
    do {
      let albums = albums()
      registry = albums
      _ = Tree { AlbumView().registry(albums) }
      (seen.title, seen.registry) = (nil, nil)
    }
    return registry == nil && seen.album == nil
  }
  await check("views that come and go 1,000 times leave no model, observable or not") {
    let (albums, players) = (albums(), Live.count)
    var isShown = false
    let tree = Tree {
      isShown ? ViewBuilder.buildBlock(AlbumView(), PlayerView()).registry(albums) as any View : EmptyView()
    }
    for _ in 1...1000 {
      isShown = true
      tree.update()
      guard tree.texts.count == 2, Live.count == players + 2 else { return false }
      isShown = false
      tree.update()
      (seen.title, seen.track, seen.registry) = (nil, nil, nil)
      guard Live.count == players else { return false }
    }
    return true
  }
  await check("two views have a model each") {
    let registry = albums()
    let tree = Tree { ViewBuilder.buildBlock(AlbumView(), AlbumView()).registry(registry) }
    let last = seen.album
    last?.title = "Second"
    tree.update()
    return tree.texts == ["First by Ada, 0", "Second by Ada, 0"]
  }
  await check("a change of an observable model, and one through its binding, updates the view") {
    let registry = albums()
    let tree = Tree { AlbumView().registry(registry) }
    guard !tree.needsUpdate else { return false }
    seen.album?.title = "Second"
    guard tree.needsUpdate else { return false }
    tree.update()
    guard tree.texts == ["Second by Ada, 0"], !tree.needsUpdate else { return false }
    seen.title?.wrappedValue = "Third"
    guard tree.needsUpdate else { return false }
    tree.update()
    return tree.texts == ["Third by Ada, 0"] && seen.album?.title == "Third"
  }
  await check("a preference in a model is followed") {
    let registry = albums()
    let tree = Tree { AlbumView().registry(registry) }
    seen.album?.sales = 7
    guard tree.needsUpdate else { return false }
    tree.update()
    return tree.texts == ["First by Ada, 7"]
  }
  await check("a change of an ObservableObject, and one through its binding, updates the view") {
    let registry = albums()
    let tree = Tree { PlayerView().registry(registry) }
    seen.player?.track = 2
    guard tree.needsUpdate else { return false }
    tree.update()
    guard tree.texts == ["track 2"], !tree.needsUpdate else { return false }
    seen.track?.wrappedValue = 3
    guard tree.needsUpdate else { return false }
    tree.update()
    return tree.texts == ["track 3"] && seen.player?.track == 3
  }
  await check("a parent's registry reaches the views inside, and the nearest one wins") {
    let (outer, inner) = (albums(), albums(of: "Bob"))
    let tree = Tree { ViewBuilder.buildBlock(AlbumView(), AlbumView().registry(inner)).registry(outer) }
    return tree.texts == ["First by Ada, 0", "First by Bob, 0"] && seen.registry === inner
  }
  await check("a registry reaches the views in a view's body") {
    let registry = albums(of: "Bob")
    return Tree { ShelfView().registry(registry) }.texts == ["First by Bob, 0"]
  }
  await check("a view in place keeps its model when the registry of the environment changes") {
    var registry = albums()
    let tree = Tree { AlbumView().registry(registry) }
    registry = albums(of: "Bob")
    tree.update()
    return tree.texts == ["First by Ada, 0"] && seen.registry === registry
  }
  await check("without a registry in the environment, the view asks the one in which it was created") {
    let registry = albums()
    return Tree { registry.run { AlbumView() } }.texts == ["First by Ada, 0"]
  }
  await check("a preview has a registry of its own, with preferences in memory and the keys' values") {
    let trait = PreviewTrait.registry(["sales": 5]) { registry in
      registry.register { Album() }
      registry.register((any Artist).self) { Named(name: "Eve") }
    }
    let tree = Tree { trait.preview { ViewBuilder.buildBlock(ArtistView(), AlbumView()) } }
    return tree.texts == ["preview", "First by Eve, 5"]
      && Tree { ArtistView() }.texts == ["live"]
  }
  await check("two previews have a registry and preferences each") {
    @MainActor func trait() -> PreviewTrait<Preview.ViewTraits> {
      .registry(["sales": 5]) { registry in
        registry.register {
          let album = Album()
          seen.album = album
          return album
        }
        registry.register((any Artist).self) { Named(name: "Eve") }
      }
    }
    let (one, other) = (trait(), trait())
    let first = Tree { one.preview { AlbumView() } }
    let registry = seen.registry
    seen.album?.sales = 6
    let second = Tree { other.preview { AlbumView() } }
    first.update()
    return first.texts == ["First by Eve, 6"] && second.texts == ["First by Eve, 5"] && seen.registry === registry
      && registry?.context == .preview
  }
}
