public import Synchronization

/// One word that says how far a value is: there, not there, or being made, and by whom.
///
/// | word | meaning |
/// |---|---|
/// | 0 | vacant |
/// | generation, tag 2 | ready: may be read in place, with no lock |
/// | generation, tag 3 | ready, but kept elsewhere (see ``PropertySlot``) |
/// | frame, tag 0 | being made, by the initializer that has this frame |
/// | frame, tag 1 | the same, and somebody waits for it |
///
/// Frames are aligned as pointers are, to four bytes or more, and generations are multiples of four, so the low two
/// bits are free for the tag.
///
/// Whoever finds a value vacant enters the gate by exchanging the word for a pointer to its own frame (acquiring: it
/// sees all that was written before the value became vacant; releasing: whoever finds the frame in the word sees what
/// is in it), makes the value with no lock held, writes it, and settles the word (releasing: whoever then loads "ready"
/// with acquiring order sees the value whole). The monitor is taken only when somebody else arrives in between. A frame
/// that the word names with tag 1 stays valid for as long as the monitor is held, because its owner needs the monitor
/// to settle.
@frozen @usableFromInline struct CreationGate: ~Copyable, Sendable {
  @usableFromInline let word: Atomic<UInt>

  @inlinable static var vacant: UInt { 0 }
  @inlinable static var ready: UInt { 2 }
  @inlinable static var readyElsewhere: UInt { 3 }
  static let awaitedTag: UInt = 1
  @inlinable static var tags: UInt { 3 }
  /// From one generation to the next.
  static let generationStep: UInt = 4

  /// Wakes whoever waits at any gate.
  ///
  /// One for all: it is taken only by a read that meets another thread at work.
  private static let monitor = Monitor()

  @inlinable init() { word = Atomic(Self.vacant) }
}

extension CreationGate {
  /// Whether `word` tells of a value being made.
  static func isBusy(_ word: UInt) -> Bool { word != vacant && word & tags <= awaitedTag }

  /// Whether `word` tells of a value that is there.
  static func isSettledWithValue(_ word: UInt) -> Bool { word & tags > awaitedTag }

  /// Exchanges a settled word for this frame.
  func enter(from settled: UInt, as frame: UnsafeMutablePointer<CreationFrame>) -> Bool {
    word.compareExchange(
      expected: settled, desired: UInt(bitPattern: frame), ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Leaves the gate with `settled` for a word, and wakes who waits.
  func settle(_ frame: UnsafeMutablePointer<CreationFrame>, as settled: UInt) {
    let mine = UInt(bitPattern: frame)
    if word.compareExchange(expected: mine, desired: settled, ordering: .releasing).exchanged { return }
    Self.monitor.withLock {
      word.store(settled, ordering: .releasing)
      Self.monitor.wakeAll()
    }
  }

  /// Waits until the value that was being made when the word was `observed` is settled.
  ///
  /// - Throws: `.cycle`, with the types around the circle, where that would be for ever: this thread itself is making
  ///   the value, or the thread that makes it waits, directly or through others, for one that this thread makes.
  func wait(while observed: UInt, as frame: UnsafeMutablePointer<CreationFrame>) throws(InjectionError) {
    let thread = frame.pointee.thread
    let awaited = observed | Self.awaitedTag
    try Self.monitor.withLock { () throws(InjectionError) in
      if observed != awaited {
        let found = word.compareExchange(
          expected: observed, desired: awaited, ordering: .acquiringAndReleasing
        ).original
        guard found == observed || found == awaited else { return }
      }
      try withUnsafePointer(to: self) { gate throws(InjectionError) in
        if let circle = Self.circle(from: gate, backTo: thread) {
          throw InjectionError(.cycle, through: circle.map { InjectionStep($0) })
        }
        thread.pointee.awaited = gate
        while word.load(ordering: .acquiring) == awaited { Self.monitor.wait() }
        thread.pointee.awaited = nil
      }
    }
  }

  /// The types on the way from a gate back to what `thread` is making, or nil where the way ends at a thread that runs.
  ///
  /// The caller holds the monitor, so every thread on the way that waits goes on waiting, and its frames stay.
  private static func circle(
    from gate: UnsafePointer<CreationGate>, backTo thread: UnsafeMutablePointer<CreationThread>
  ) -> [any Any.Type]? {
    var types: [any Any.Type] = []
    var next: UnsafePointer<CreationGate>? = gate
    while let gate = next {
      let word = gate.pointee.word.load(ordering: .acquiring)
      // Without the tag, whoever waited there is about to wake and look for itself.
      guard word & tags == awaitedTag,
        let maker = UnsafeMutablePointer<CreationFrame>(bitPattern: word & ~tags)
      else { return nil }
      let other = maker.pointee.thread
      if other == thread { return types + [maker.pointee.type] }
      guard let awaited = other.pointee.awaited else { return nil }
      types += frames(from: maker, upTo: other.pointee.innermost)
      next = awaited
    }
    return nil
  }

  /// The types from one frame to the asker of another: the one that waits, and is next on the way.
  private static func frames(
    from outer: UnsafeMutablePointer<CreationFrame>, upTo waiting: UnsafeMutablePointer<CreationFrame>?
  ) -> [any Any.Type] {
    var types: [any Any.Type] = []
    var frame = waiting
    while let current = frame, current != outer {
      frame = current.pointee.asker
      if let frame { types.insert(frame.pointee.type, at: 0) }
    }
    return types
  }
}
