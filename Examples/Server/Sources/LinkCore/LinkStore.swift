import Synchronization

/// A store that keeps the links in memory, and writes changes to a ``LinkJournal``.
///
/// The creation or removal of a link is written to the journal before the call returns. Visits are counted in memory
/// and written by ``save()``, so a crash loses the visits since the last save.
public final class LinkStore: Sendable {
  private struct State {
    var links: [String: Link] = [:]
    var unsaved: [String: Int] = [:]
  }

  private let journal: LinkJournal
  private let state = Mutex(State())

  /// Creates a store that has the links of a journal.
  ///
  /// - Throws: An error if the journal can't be read.
  public init(journal: LinkJournal) throws {
    self.journal = journal
    let links = try journal.links()
    state.withLock { $0.links = Dictionary(uniqueKeysWithValues: links.map { ($0.code, $0) }) }
  }

  /// The number of links in the store.
  public var count: Int { state.withLock(\.links.count) }

  /// The number of visits that aren't in the journal yet.
  public var unsavedVisits: Int { state.withLock { $0.unsaved.values.reduce(0, +) } }

  /// Adds a link, and writes it to the journal.
  ///
  /// - Throws: ``LinkError`` if the link isn't valid or its code is taken, or an error if the journal can't be written.
  public func add(_ link: Link) throws {
    try link.validate()
    try state.withLock { state in
      guard state.links[link.code] == nil else { throw LinkError.taken(link.code) }
      try journal.append([.added(link)])
      state.links[link.code] = link
    }
  }

  /// Returns the link with a code, and counts a visit of the link.
  ///
  /// - Throws: ``LinkError/missing(_:)``.
  public func follow(_ code: String) throws(LinkError) -> Link {
    let link = state.withLock { state -> Link? in
      guard let index = state.links.index(forKey: code) else { return nil }
      state.links.values[index].visits += 1
      state.unsaved[code, default: 0] += 1
      return state.links.values[index]
    }
    guard let link else { throw .missing(code) }
    return link
  }

  /// Returns the link with a code, without counting a visit.
  ///
  /// - Throws: ``LinkError/missing(_:)``.
  public func link(_ code: String) throws(LinkError) -> Link {
    guard let link = state.withLock({ $0.links[code] }) else { throw .missing(code) }
    return link
  }

  /// Returns the links of a user, sorted by code.
  public func links(of user: User) -> [Link] {
    state.withLock { $0.links.values.filter { $0.owner == user.name } }.sorted { $0.code < $1.code }
  }

  /// Removes a link that belongs to a user.
  ///
  /// - Throws: ``LinkError`` if no link has the code or the link belongs to another user, or an error if the journal
  ///   can't be written.
  public func remove(_ code: String, by user: User) throws {
    try state.withLock { state in
      guard let link = state.links[code] else { throw LinkError.missing(code) }
      guard link.owner == user.name else { throw LinkError.notOwned(code) }
      try journal.append([.removed(code)])
      state.links[code] = nil
      state.unsaved[code] = nil
    }
  }

  /// Writes the visits since the last save to the journal.
  ///
  /// - Throws: An error if the journal can't be written. The next call tries to write the visits again.
  public func save() throws {
    try state.withLock { state in
      guard !state.unsaved.isEmpty else { return }
      try journal.append([.followed(state.unsaved)])
      state.unsaved = [:]
    }
  }
}
