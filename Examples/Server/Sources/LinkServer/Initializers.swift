import Foundation
import InjectedSpell
import LaunchInitializers
import LinkCore
import Logging
import Metrics
import PreferenceStorage
import SpellRegistry

/// An initializer that opens the settings file, or keeps the settings in memory if no path is configured.
struct SettingsInitializer: ServiceInitializer {
  func makeService(with configuration: any Configurable) throws -> any PreferenceStore {
    guard let path = configuration.value(for: "Settings", key: "Path") else { return MemoryPreferenceStore() }
    return try FilePreferenceStore(url: URL(filePath: path))
  }
}

/// An initializer that opens the journal of links, which is in memory if no path is configured.
struct JournalInitializer: ServiceInitializer {
  private let journal = Injected<LinkJournal>(.everyRead)

  func makeService(with configuration: any Configurable) throws -> LinkJournal {
    try LinkJournal(url: configuration.value(for: "Journal", key: "Path").map { URL(filePath: $0) })
  }

  func shutDown() throws { try journal.value.close() }
}

/// An initializer that rewrites the journal if it is of an earlier version, damaged, or much too long.
struct MigrationInitializer: Initializable {
  private let journal = Injected<LinkJournal>()
  private let logger = Injected<Logger>()

  func perform(with configuration: any Configurable) throws {
    guard let rewriting = try journal.value.rewrite() else {
      throw SkipInitializer("the journal has the current version")
    }
    if !rewriting.unreadableLines.isEmpty {
      let copy = rewriting.copy?.path(percentEncoded: false) ?? "none"
      logger.value.error(
        "Lines of the journal can't be read", metadata: ["lines": "\(rewriting.unreadableLines)", "copy": "\(copy)"])
    }
    if let failure = rewriting.failure {
      logger.value.error("The journal wasn't rewritten", metadata: ["error": "\(failure)"])
    } else {
      logger.value.notice("Rewrote the journal", metadata: ["links": "\(rewriting.links)"])
    }
  }
}

/// An initializer that reads the links from the journal into memory.
struct CacheInitializer: ServiceInitializer {
  private let journal = Injected<LinkJournal>()

  func makeService(with configuration: any Configurable) throws -> LinkStore { try LinkStore(journal: journal.value) }
}

/// A service that writes new visits to the journal every second, and once more when the server stops.
struct VisitsInitializer: RunningInitializer {
  private let links = Injected<LinkStore>()
  private let logger = Injected<Logger>()
  let clock: any Clock<Duration>

  func run(_ configuration: any Configurable) async throws {
    while !Task.isCancelled {
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      save()
    }
  }

  func shutDown() throws { try links.value.save() }

  private func save() {
    do { try links.value.save() } catch {
      logger.value.error("The visits weren't saved", metadata: ["error": "\(error)"])
    }
  }
}

/// A service that logs the settings' values when they change, and counts refused values.
struct SettingsWatch: RunningInitializer {
  private let store = Injected<any PreferenceStore>()
  private let settings = Injected<Settings>()
  private let counters = Injected<Counters>()
  private let logger = Injected<Logger>()

  func run(_ configuration: any Configurable) async throws {
    let settings = settings.value
    let changes = store.value.changes()
    report(settings.fields.filter(\.isSet))
    for await keys in changes { report(settings.fields.filter { keys.contains($0.key) }) }
  }

  private func report(_ fields: [SettingField]) {
    for field in fields {
      if let problem = field.problem {
        counters.value.refused.increment()
        logger.value.warning("Refused a setting", metadata: ["key": "\(field.key)", "problem": "\(problem)"])
      } else {
        logger.value.notice("A setting applies", metadata: ["key": "\(field.key)", "value": "\(field.text)"])
      }
    }
  }
}
