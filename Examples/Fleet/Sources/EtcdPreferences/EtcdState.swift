public import PreferenceStorage

/// Whether a store's values are those that etcd has now.
public enum EtcdState: Sendable, CustomStringConvertible {
  /// The store has etcd's values, and is notified of their changes.
  case connected
  /// The store has the values that etcd had last, or those of the snapshot, for this reason. It goes on trying.
  case away(PreferenceError)

  /// Whether the store has etcd's values.
  public var isConnected: Bool { if case .connected = self { true } else { false } }

  /// The state, and the reason if there is one.
  public var description: String {
    switch self {
    case .connected: "connected"
    case .away(let error): "away: \(error)"
    }
  }
}
