#if canImport(SwiftUI)
  public import SwiftUI

  extension Preference.Projection {
    /// The preference as a SwiftUI binding: a control reads it and assigns it.
    ///
    /// ```swift
    /// Toggle("Verbose", isOn: settings.$verbose.binding)
    /// ```
    ///
    /// A binding does not tell the view of changes that others make: keep the value in the view's state for that, and set
    /// it from ``values``.
    public var binding: Binding<Value> {
      let cache = cache
      return Binding(get: { cache.value }, set: { cache.set($0) })
    }
  }
#endif
