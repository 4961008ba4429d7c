/// What a write survives once it has returned.
public enum Durability: Sendable {
  /// The end of the process, `kill -9` included: the value is in the kernel. About the cost of one system call or two.
  case written
  /// A power cut, too: the value is on the disk. The cost of the disk's own synchronization, 0.1 to 10 milliseconds.
  ///
  /// It is as true as what the disk says: `fdatasync` on Linux, `F_FULLFSYNC` on Apple platforms, for the file and, after
  /// the file was made or compacted, for its folder. On a file system that doesn't know `F_FULLFSYNC`, such as a network's,
  /// it is `fsync`, which leaves the value in the disk's own memory.
  case synced
}
