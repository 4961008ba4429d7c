import Synchronization

/// The links in memory, in front of their journal.
///
/// The creation or removal of a link is in the journal before the call returns. Visits are counted in memory and
/// written by ``save()``, so a crash loses the visits since the last save.
public final class LinkStore: Sendable {
  private struct State {
    var links: [String: Link] = [:]
    var unsaved: [String: Int] = [:]
  }

  private let journal: LinkJournal
  private let state = Mutex(State())

  /// Creates a store that has the links of a journal.
  ///
  /// - Throws: The error of reading the journal.
  public init(journal: LinkJournal) throws {
    self.journal = journal
    let links = try journal.links()
    state.withLock { $0.links = Dictionary(uniqueKeysWithValues: links.map { ($0.code, $0) }) }
  }

  /// The number of links.
  public var count: Int { state.withLock(\.links.count) }

  /// The number of visits that aren't in the journal yet.
  public var unsavedVisits: Int { state.withLock { $0.unsaved.values.reduce(0, +) } }

  /// Adds a link.
  ///
  /// - Throws: ``LinkError`` if the link isn't valid or its code is taken, and the error of writing the journal.
  public func add(_ link: Link) throws {
    try link.validate()
    try state.withLock { state in
      guard state.links[link.code] == nil else { throw LinkError.taken(link.code) }
      try journal.append([.added(link)])
      state.links[link.code] = link
    }
  }

  /// Returns the link of a code, and counts a visit.
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

  /// Returns the link of a code.
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

  /// Removes a link of a user.
  ///
  /// - Throws: ``LinkError`` if there is no such link or it belongs to another user, and the error of writing the
  ///   journal.
  public func remove(_ code: String, by user: User) throws {
    try state.withLock { state in
      guard let link = state.links[code] else { throw LinkError.missing(code) }
      guard link.owner == user.name else { throw LinkError.notOwned(code) }
      try journal.append([.removed(code)])
      state.links[code] = nil
      state.unsaved[code] = nil
    }
  }

  /// Writes the visits since the last call.
  ///
  /// - Throws: The error of writing the journal; a later call then writes the visits.
  public func save() throws {
    try state.withLock { state in
      guard !state.unsaved.isEmpty else { return }
      try journal.append([.followed(state.unsaved)])
      state.unsaved = [:]
    }
  }
}
