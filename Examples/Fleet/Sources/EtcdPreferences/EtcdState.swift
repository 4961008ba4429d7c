public import PreferenceStorage

/// The state of a store, which says whether its values are etcd's current values and whether etcd accepts changes.
public enum EtcdState: Sendable, CustomStringConvertible {
  /// The store has etcd's current values, and receives their changes.
  case connected
  /// The store has etcd's current values, but etcd refuses all changes for the given reason.
  ///
  /// Either etcd has no space left, or the user may only read. The state becomes `connected` some seconds after etcd
  /// accepts changes again.
  case readOnly(PreferenceError)
  /// The store can't reach etcd for the given reason, and has the last known values or the snapshot's values.
  ///
  /// The store keeps trying to reach etcd.
  case away(PreferenceError)

  /// Whether the store can reach etcd, and therefore has etcd's current values.
  public var isConnected: Bool { if case .away = self { false } else { true } }

  /// The state as text, with the reason if there is one.
  public var description: String {
    switch self {
    case .connected: "connected"
    case .readOnly(let error): "read only: \(error)"
    case .away(let error): "away: \(error)"
    }
  }
}
