/// A type that loads the values of `@Partial` properties from resources.
///
/// Register one for all properties, for those of one class, or for those of one name:
///
/// ```swift
/// registry.register((any PartialLoader).self) {
///   DecodablePartialLoader(folder: folder)
/// }
/// registry.register((any PartialLoader).self, in: Editor.self) { _ in
///   TemplateLoader()
/// }
/// registry.register((any PartialLoader).self, named: "theme") {
///   ThemeLoader()
/// }
/// ```
///
/// Each property resolves its loader at its first read. Use the scope `.singleton` to keep one loader.
public protocol PartialLoader: Sendable {
  /// Returns the value of the resource with this name.
  ///
  /// Called on the thread that reads the property, with no lock held. If the property is an Optional, the type is the
  /// one that it wraps.
  ///
  /// - Throws: A ``PartialError`` with the places that were searched, or another error, which the property wraps in
  ///   one. If the code is `.notFound`, an Optional property reads nil.
  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value
}
