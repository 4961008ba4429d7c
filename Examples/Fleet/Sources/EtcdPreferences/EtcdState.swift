public import PreferenceStorage

/// Whether a store's values are those that etcd has now, and whether etcd takes changes.
public enum EtcdState: Sendable, CustomStringConvertible {
  /// The store has etcd's values, and is notified of their changes.
  case connected
  /// The store has etcd's values, and etcd has refused the last change for this reason, which holds for all of them: it has no
  /// space, or the user may only read.
  ///
  /// The state is `connected` again some seconds after etcd would take changes.
  case readOnly(PreferenceError)
  /// The store has the values that etcd had last, or those of the snapshot, for this reason. It goes on trying.
  case away(PreferenceError)

  /// Whether the store has etcd's values.
  public var isConnected: Bool { if case .away = self { false } else { true } }

  /// The state, and the reason if there is one.
  public var description: String {
    switch self {
    case .connected: "connected"
    case .readOnly(let error): "read only: \(error)"
    case .away(let error): "away: \(error)"
    }
  }
}
