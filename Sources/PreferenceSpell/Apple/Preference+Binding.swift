#if canImport(SwiftUI)
  public import SwiftUI

  extension Preference.Projection {
    /// The preference as a SwiftUI binding: a control reads it and assigns it.
    ///
    /// ```swift
    /// Toggle("Verbose", isOn: settings.$verbose.binding)
    /// ```
    ///
    /// A view whose `body` reads the binding is updated when the value changes, whoever changes it: the read is tracked by the
    /// Observation framework.
    public var binding: Binding<Value> {
      let cache = cache
      return Binding(get: { cache.value }, set: { cache.set($0) })
    }
  }
#endif
