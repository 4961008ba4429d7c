/// What a write survives once it has returned.
public enum Durability: Sendable {
  /// The end of the process, `kill -9` included: the value is in the kernel. About the cost of one system call or two.
  case written
  /// A power cut, too: the value is on the disk. The cost of the disk's own synchronisation, 0.1 to 10 milliseconds.
  case synced
}
