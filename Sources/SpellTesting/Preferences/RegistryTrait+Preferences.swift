public import PreferenceStorage
internal import SpellRegistry
public import Testing

extension Trait where Self == RegistryTrait {
  /// A new preference store for each test, in the test's own current registry.
  ///
  /// ```swift
  /// @Test(.preferences(try FilePreferenceStore(url: newFile())))
  /// func keepsTheVolume() { … }
  /// ```
  ///
  /// The store is registered in the registry that all traits of a test share, with or without `.registry`, before or
  /// after it. If there are several stores, the innermost trait's is used, or the last one of a test.
  ///
  /// - Parameter store: Evaluated for each test, and for each case of a parameterized test, so that they don't share
  ///   it. If it throws, the test fails without running.
  public static func preferences(
    _ store: @autoclosure @escaping @Sendable () throws -> any PreferenceStore
  ) -> RegistryTrait {
    RegistryTrait { $0.register(instance: try store()) }
  }

  /// A new preference store in memory for each test, with initial values.
  ///
  /// ```swift
  /// @Suite(.preferences(["volume": 7, "nickname": "Ada"]))
  /// struct SettingsTests { … }
  /// ```
  ///
  /// - Parameter values: The initial values by key, in the order of writing. A value that can't be encoded fails the
  ///   test.
  public static func preferences(
    _ values: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable>
  ) -> RegistryTrait {
    RegistryTrait { $0.register(instance: try MemoryPreferenceStore(values()) as any PreferenceStore) }
  }
}
