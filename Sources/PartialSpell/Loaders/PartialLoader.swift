/// Makes the values of `@Partial` properties from resources.
///
/// Register one for all properties, for those of one class, or for those of one name:
///
/// ```swift
/// registry.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
/// registry.register((any PartialLoader).self, in: Editor.self) { _ in TemplateLoader() }
/// registry.register((any PartialLoader).self, named: "theme") { ThemeLoader() }
/// ```
///
/// The loader is asked for at the first read of each property; give the registration scope `.singleton` to keep one.
public protocol PartialLoader: Sendable {
  /// Loads a value from the resource of this name.
  ///
  /// Called on the thread that reads the property, with no lock held. Where the property is an Optional, the type is
  /// what it wraps.
  ///
  /// - Throws: ``PartialError``, with the places searched, or an error of the loader's own, which the property wraps in
  ///   one. An Optional property reads nil where the code is `.notFound`.
  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value
}
