public import PreferenceStorage
internal import SpellRegistry
public import Testing

extension Trait where Self == RegistryTrait {
  /// A preference store made for each test, in a current registry of the test's own.
  ///
  /// ```swift
  /// @Test(.preferences(try FilePreferenceStore(url: newFile()))) func keepsTheVolume() { … }
  /// ```
  ///
  /// With or without `.registry`, before or after it: the store is registered in the registry that all of a test's
  /// traits share. Of several stores the innermost trait's, or the last one's on the same test, is taken.
  ///
  /// - Parameter store: Evaluated for each test, and each case of a parameterised one, so that no two share one. If it
  ///   throws the test fails and isn't run.
  public static func preferences(
    _ store: @autoclosure @escaping @Sendable () throws -> any PreferenceStore
  ) -> RegistryTrait {
    RegistryTrait { $0.register(instance: try store()) }
  }

  /// A preference store in memory for each test, which has these values to begin with.
  ///
  /// ```swift
  /// @Suite(.preferences(["volume": 7, "nickname": "Ada"])) struct SettingsTests { … }
  /// ```
  ///
  /// - Parameter values: What the store has, by key, in the order of writing. A value that can't be encoded fails the
  ///   test.
  public static func preferences(
    _ values: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable>
  ) -> RegistryTrait {
    RegistryTrait { $0.register(instance: try MemoryPreferenceStore(values()) as any PreferenceStore) }
  }
}
