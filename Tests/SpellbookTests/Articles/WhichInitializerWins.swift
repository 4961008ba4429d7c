import SpellTesting
import Spellbook
import Testing

/// The samples of the article of this name.
@Suite("Which initializer wins", .registry) struct WhichInitializerWins {
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
    registry.register(Service.self) { Service("anyone") }
    registry.register(Service.self, named: .containing("backup")) { Service("a name with backup in it") }
    registry.register(Service.self, named: "backup") { Service("the name backup") }
    registry.register(Service.self, in: Page.self, subclasses: true) { _ in Service("a page of any class") }
    registry.register(Service.self, in: Page.self) { _ in Service("a page") }
  }

  @Test("the container, then the name, then anyone")
  func order() {
    registerAll()

    #expect(Page().service.origin == "a page")
    #expect(Page().own.origin == "a page")
    #expect(SubPage().service.origin == "a page of any class")
    #expect(Note().service.origin == "anyone")
    #expect(Note().backup.origin == "the name backup")
    #expect(Note().secondBackup.origin == "a name with backup in it")
    #expect(Note().own.origin == "the expression")
  }

  @Test("an initializer that is registered for a class gets the instance that asks")
  func container() throws {
    final class Editor {
      let title = "untitled"
      @Injected var service: Service
    }
    registry.register(Service.self, in: Editor.self) { editor in Service(editor.title) }

    #expect(Editor().service.origin == "untitled")
    #expect(try registry.resolve(Service.self, in: Editor()).origin == "untitled")
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
    registry.register(instance: shared, as: .anySupertype)
    let holder = Holder()

    #expect(holder.tracker as? FileTracker === shared)
    #expect(holder.fileTracker === shared)

    registry.register((any Tracker).self) { FileTracker() }

    #expect(Holder().tracker as? FileTracker !== shared)
  }

  @Test("an answer of a child registry comes before any of its parent")
  func parents() throws {
    registry.register(Int.self, named: "port") { 80 }
    let child = InitializerRegistry(parent: registry)
    child.register(Int.self) { 8080 }

    #expect(try child.resolve(Int.self, named: "port") == 8080)
  }

  @Test("an Optional is served by what makes its wrapped type, and is nil without")
  func optionals() {
    final class Holder {
      @Injected var service: Service?
    }
    let holder = Holder()

    #expect(holder.service == nil)

    registry.register { Service("later") }

    #expect(holder.service?.origin == "later")
  }

  @Test("the check finds what can never win")
  func validation() {
    registry.register(Service.self, in: Page.self, named: .containing("serv")) { _ in Service("one") }
    registry.register(Service.self, in: Page.self, named: .containing("vice")) { _ in Service("other") }

    #expect(registry.validate().map(\.code) == [.ambiguous])
  }
}
