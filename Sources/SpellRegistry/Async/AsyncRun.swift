internal import Support
internal import Synchronization

/// One run of an async initializer: which registration's, for which name, and which run asked for it.
///
/// A run needs its own result if it awaits, directly or through other runs, itself; or if it asks, further in, for what
/// it is making, so that there would be ever more runs. Both are cycles. Two runs of one registration are otherwise
/// nothing to each other.
final class AsyncRun: Sendable {
  let registration: RegistrationStorage
  let name: String?
  /// The run whose initializer began this one, while that still runs.
  private let asker: AsyncRun?
  /// Whether the initializer has ended; tasks that it left running ask for themselves.
  private let isOver = Atomic(false)

  @TaskLocal private static var innermost: AsyncRun?

  private init(_ registration: RegistrationStorage, named name: String?, askedBy asker: AsyncRun?) {
    self.registration = registration
    self.name = name
    self.asker = asker
  }

  /// The run in whose initializer the calling task is.
  private static var current: AsyncRun? {
    innermost.flatMap { $0.isOver.load(ordering: .relaxed) ? nil : $0 }
  }

  /// A run that the calling task begins.
  ///
  /// - Throws: `.cycle` if a run further out is making the same for the same name.
  static func begin(
    _ registration: RegistrationStorage, named name: String?
  ) throws(InjectionError) -> AsyncRun {
    let asker = current
    for open in sequence(first: asker, next: { $0?.asker }) {
      if let open, open.registration === registration, open.name == name {
        // What is asked for is added by the caller.
        throw InjectionError(.cycle, through: [])
      }
    }
    return AsyncRun(registration, named: name, askedBy: asker)
  }

  var point: InjectionPoint { InjectionPoint(registration.service, in: nil, name.map { .named($0) } ?? .unnamed) }

  /// Runs the initializer as the run that asks for whatever is asked for in it.
  func perform<Result>(_ body: () async throws -> Result) async throws -> Result {
    defer { isOver.store(true, ordering: .relaxed) }
    return try await Self.$innermost.withValue(self, operation: body)
  }

  /// Awaits this run in `body`, as the run that the calling task is in.
  ///
  /// - Throws: `.cycle`, with the types around it, if this run awaits, directly or through others, that one.
  func awaited<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let asker = Self.current else { return try await body() }
    let path = Self.waits.withLock { waits -> [Service]? in
      if let path = waits.path(from: self, to: asker) { return path }
      waits.add(asker, awaits: self)
      return nil
    }
    if let path {
      // What this task itself is making will be in the path anyway, and what is asked for is added by the caller.
      let isOpen = sequence(first: asker, next: \.asker).contains { $0 === self }
      throw InjectionError(.cycle, through: isOpen ? [] : path.dropFirst().map { InjectionStep($0) })
    }
    defer { Self.waits.withLock { $0.remove(asker, awaits: self) } }
    return try await body()
  }

  /// Which run awaits which, in the whole process.
  private static let waits = Lock(Waits())

  private struct Waits: Sendable {
    private var awaited: [ObjectIdentifier: [AsyncRun]] = [:]

    mutating func add(_ run: AsyncRun, awaits other: AsyncRun) {
      awaited[ObjectIdentifier(run), default: []].append(other)
    }

    mutating func remove(_ run: AsyncRun, awaits other: AsyncRun) {
      guard let index = awaited[ObjectIdentifier(run)]?.firstIndex(where: { $0 === other }) else { return }
      awaited[ObjectIdentifier(run)]?.remove(at: index)
      if awaited[ObjectIdentifier(run)]?.isEmpty == true { awaited[ObjectIdentifier(run)] = nil }
    }

    /// The types on the way from one run to another, both included; nil if there is no way.
    func path(from start: AsyncRun, to goal: AsyncRun) -> [Service]? {
      var seen: Set<ObjectIdentifier> = [ObjectIdentifier(start)]
      var paths: [[AsyncRun]] = [[start]]
      while let path = paths.popLast(), let last = path.last {
        if last === goal { return path.map(\.registration.service) }
        for next in awaited[ObjectIdentifier(last), default: []] where seen.insert(ObjectIdentifier(next)).inserted {
          paths.append(path + [next])
        }
      }
      return nil
    }
  }
}
