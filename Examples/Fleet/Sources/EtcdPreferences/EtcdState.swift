public import PreferenceStorage

/// The state of a store: whether its values are etcd's current values, and whether etcd accepts changes.
public enum EtcdState: Sendable, CustomStringConvertible {
  /// The store has etcd's values, and gets their changes.
  case connected
  /// The store has etcd's values, but etcd refuses all changes for this reason: it has no space left, or the user may
  /// only read.
  ///
  /// The state becomes `connected` some seconds after etcd accepts changes again.
  case readOnly(PreferenceError)
  /// The store has the last known values, or those of the snapshot, for this reason; it keeps trying to reach etcd.
  case away(PreferenceError)

  /// Whether the store reaches etcd, and so has its current values.
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
