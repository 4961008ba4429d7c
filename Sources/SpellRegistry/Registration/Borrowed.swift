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
