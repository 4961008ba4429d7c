import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How often the process has been forked off since the first file was opened: a child has to open its files
/// anew, since a descriptor that it inherits shares its locks with the parent's.
///
/// Asking costs one atomic load, where asking for the process identifier would cost a system call.
enum ProcessGeneration {
  private static let forks = Atomic<Int>(0)
  private static let registration: Void = {
    _ = pthread_atfork(nil, nil) { ProcessGeneration.forks.add(1, ordering: .relaxed) }
  }()

  static var current: Int {
    registration
    return forks.load(ordering: .relaxed)
  }
}

/// A number that no other running thread has.
var currentThread: UInt {
  #if canImport(Glibc)
    return UInt(pthread_self())
  #else
    return UInt(bitPattern: pthread_self())
  #endif
}

/// The process's identifier, for the names of its temporary files.
var processIdentifier: Int32 { getpid() }
