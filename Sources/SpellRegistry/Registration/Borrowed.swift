internal import Synchronization

/// An object that is used without counting a reference, while something else holds it: a table what is registered, a
/// caller what it makes.
///
/// A count would be what all threads that resolve the same type wait for (benchmark: "resolve singleton, in two threads").
@safe struct Borrowed<Object: AnyObject>: Equatable {
  private let object: Unmanaged<Object>

  init(_ object: Object) { unsafe self.object = .passUnretained(object) }

  /// The object, retained: it may be used after what held it has let it go.
  var retained: Object { unsafe object.takeUnretainedValue() }

  /// Runs `body` with the object.
  @inline(__always) func use<Result>(_ body: (Object) -> Result) -> Result {
    unsafe object._withUnsafeGuaranteedRef(body)
  }

  static func == (left: Borrowed, right: Borrowed) -> Bool { unsafe left.object.toOpaque() == right.object.toOpaque() }
}

/// An object that comes once, from the thread that is the first to make it, and then stays.
///
/// The standard library's `AtomicLazyReference` isn't compiled for its type, and takes a hundred times as long.
@safe struct LateObject<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  private let address = Atomic<Unmanaged<Object>?>(nil)

  deinit { unsafe address.load(ordering: .acquiring)?.release() }

  /// The object, if it is there.
  var object: Object? { unsafe address.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// The object, which is made if it isn't there.
  func object(_ make: () -> Object) -> Object {
    if let object { return object }
    let made = make()
    let (exchanged, other) = unsafe address.compareExchange(
      expected: nil, desired: .passRetained(made), ordering: .acquiringAndReleasing)
    if exchanged { return made }
    unsafe Unmanaged.passUnretained(made).release()
    return unsafe other?.takeUnretainedValue() ?? made
  }
}
