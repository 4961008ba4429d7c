import Foundation
import SpellTesting
import Spellbook
import TestSupport
import Testing

/// The code samples of the article with this name.
@Suite("Which initializer wins", .registry, .timeLimit(.hang)) struct WhichInitializerWins {
  let registry = InitializerRegistry.current

  final class Service: Sendable {
    let origin: String
    init(_ origin: String) { self.origin = origin }
  }

  class Page {
    @Injected var service: Service
    @Lazy var own = Service("the expression")
  }
  final class SubPage: Page {}
  final class Note {
    @Injected var service: Service
    @Injected var backup: Service
    @Injected var secondBackup: Service
    @Lazy var own = Service("the expression")
  }

  private func registerAll() {
    registry.register(Service.self) { Service("any") }
    registry.register(Service.self, named: .containing("backup")) { Service("a name with backup in it") }
    registry.register(Service.self, named: "backup") { Service("the name backup") }
    registry.register(Service.self, .in(Page.self, subclasses: true) { _ in Service("a subclass of Page") })
    registry.register(Service.self, .in(Page.self) { _ in Service("a page") })
  }

  @Test("the class comes first, then the name, then any property")
  func order() {
    registerAll()

    #expect(Page().service.origin == "a page")
    #expect(Page().own.origin == "a page")
    #expect(SubPage().service.origin == "a subclass of Page")
    #expect(Note().service.origin == "any")
    #expect(Note().backup.origin == "the name backup")
    #expect(Note().secondBackup.origin == "a name with backup in it")
    #expect(Note().own.origin == "the expression")
  }

  @Test("an initializer that is registered for a class gets the enclosing object")
  func container() throws {
    final class Editor {
      let title = "untitled"
      @Injected var service: Service
    }
    registry.register(Service.self, .in(Editor.self) { editor in Service(editor.title) })

    #expect(Editor().service.origin == "untitled")
    let service = try registry.resolve(Service.self, in: Editor())
    #expect(service.origin == "untitled")
  }

  protocol Tracker: Sendable {}
  final class FileTracker: Tracker {}

  @Test("a registration for exactly the type comes before an instance for its supertypes")
  func kind() {
    final class Holder {
      @Injected var tracker: any Tracker
      @Injected var fileTracker: FileTracker
    }
    let shared = FileTracker()
    registry.register(.instance(shared, as: .anySupertype))
    let holder = Holder()

    #expect(holder.tracker as? FileTracker === shared)
    #expect(holder.fileTracker === shared)

    registry.register((any Tracker).self) { FileTracker() }

    #expect(Holder().tracker as? FileTracker !== shared)
  }

  protocol ImageSource: Sendable {}
  protocol Purgeable: Sendable {}
  final class DiskCache: ImageSource, Purgeable {}

  @Test("protocols that are forwarded to a class share what its scope keeps")
  func forwarding() throws {
    registry.register(DiskCache.self, scope: .singleton) { DiskCache() }
    registry.register((any ImageSource).self) {
      try $0.resolve(DiskCache.self)
    }
    registry.register((any Purgeable).self) {
      try $0.resolve(DiskCache.self)
    }

    let cache = try registry.resolve(DiskCache.self)
    let source = try registry.resolve((any ImageSource).self)
    #expect(source as? DiskCache === cache)
    #expect(try registry.resolve((any Purgeable).self) as? DiskCache === cache)

    let replacement = DiskCache()
    registry.register(.instance(replacement))
    #expect(try registry.resolve((any ImageSource).self) as? DiskCache === replacement)
  }

  @Test("a decoration wraps what is registered")
  func decorations() throws {
    protocol ImageSource: Sendable {}
    final class DiskCache: ImageSource {}
    struct CountingSource: ImageSource {
      let inner: any ImageSource
      init(_ inner: any ImageSource) { self.inner = inner }
    }
    registry.register((any ImageSource).self, scope: .singleton) {
      DiskCache()
    }
    registry.decorate((any ImageSource).self) { inner in
      CountingSource(inner)
    }

    let source = try registry.resolve((any ImageSource).self)
    #expect((source as? CountingSource)?.inner is DiskCache)
  }

  @Test("a child registry's registration wins over its parent's")
  func parents() throws {
    registry.register(Int.self, named: "port") { 80 }
    let child = InitializerRegistry(parent: registry)
    child.register(Int.self) { 8080 }

    #expect(try child.resolve(Int.self, named: "port") == 8080)
  }

  @Test("an Optional gets what is registered for its wrapped type, or nil")
  func optionals() {
    final class Holder {
      @Injected var service: Service?
    }
    let holder = Holder()

    #expect(holder.service == nil)

    registry.register { Service("later") }

    #expect(holder.service?.origin == "later")
  }

  @Test("an Optional whose initializer throws isn't nil")
  func throwing() async throws {
    final class Holder {
      @Injected var service: Service?
    }
    struct Unreachable: Error {}
    registry.register(Service.self) { throw Unreachable() }
    let error = #expect(throws: InjectionError.self) {
      try Holder().$service.resolve()
    }
    #expect(error?.code == .initializerFailed)
    #if os(macOS) || os(Linux)
      await #expect(processExitsWith: .failure) {
        final class Holder {
          @Injected var service: Service?
        }
        struct Unreachable: Error {}
        InitializerRegistry.current.register(Service.self) { throw Unreachable() }
        exit(Holder().service == nil ? 0 : 0)
      }
    #endif
  }

  @Test("validation reports registrations that differ only in their age")
  func validation() {
    registry.register(Service.self, named: .containing("serv"), .in(Page.self) { _ in Service("one") })
    registry.register(Service.self, named: .containing("vice"), .in(Page.self) { _ in Service("other") })

    #expect(registry.validate().map(\.code) == [.ambiguous])
  }
}
