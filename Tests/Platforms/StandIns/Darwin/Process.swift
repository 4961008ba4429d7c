// The names are Apple's.
// swift-format-ignore-file

// The functions of Darwin for threads, clocks and processes that Spellbook calls, with Apple's types.

@_exported public import DarwinTypes
internal import Glibc

// MARK: Threads

public struct _opaque_pthread_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias pthread_key_t = UInt
public struct pthread_attr_t { public init() {} }
public struct pthread_mutexattr_t { public init() {} }
public struct pthread_condattr_t { public init() {} }
public struct pthread_mutex_t {
  var base = Glibc.pthread_mutex_t()
  public init() {}
}
public struct pthread_cond_t {
  var base = Glibc.pthread_cond_t()
  public init() {}
}

public func pthread_self() -> pthread_t { pthread_t(bitPattern: UInt(Glibc.pthread_self()))! }
/// On Darwin, the main thread is always the first thread of the process, even after `dispatchMain()`.
public func pthread_main_np() -> Int32 { thread() == Glibc.getpid() ? 1 : 0 }
/// The function isn't declared in Swift's module of the C library.
private let thread = unsafeBitCast(dlsym(nil, "gettid")!, to: (@convention(c) () -> Int32).self)
public func pthread_get_stacksize_np(_ thread: pthread_t) -> Int { stack().size }
/// The high end of the stack.
public func pthread_get_stackaddr_np(_ thread: pthread_t) -> UnsafeMutableRawPointer {
  let (low, size) = stack()
  return low + size
}

@discardableResult
public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>!, _ attributes: UnsafePointer<pthread_attr_t>!,
  _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer!
) -> Int32 {
  typealias Start = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  var made = Glibc.pthread_t()
  let status = Glibc.pthread_create(&made, nil, unsafeBitCast(start, to: Start.self), argument)
  thread.pointee = pthread_t(bitPattern: UInt(made))
  return status
}

@discardableResult
public func pthread_join(_ thread: pthread_t, _ value: UnsafeMutablePointer<UnsafeMutableRawPointer?>!) -> Int32 {
  Glibc.pthread_join(Glibc.pthread_t(UInt(bitPattern: thread)), nil)
}

/// On Darwin, the handle of all images is -2 and not null.
public func dlsym(_ handle: UnsafeMutableRawPointer!, _ symbol: UnsafePointer<CChar>!) -> UnsafeMutableRawPointer! {
  Glibc.dlsym(handle == UnsafeMutableRawPointer(bitPattern: -2) ? nil : handle, symbol)
}

private func stack() -> (low: UnsafeMutableRawPointer, size: Int) {
  typealias GetAttributes = @convention(c) (Glibc.pthread_t, UnsafeMutablePointer<Glibc.pthread_attr_t>) -> Int32
  let get = unsafeBitCast(dlsym(nil, "pthread_getattr_np")!, to: GetAttributes.self)
  var attributes = Glibc.pthread_attr_t()
  _ = get(Glibc.pthread_self(), &attributes)
  defer { pthread_attr_destroy(&attributes) }
  var low: UnsafeMutableRawPointer?
  var size = 0
  pthread_attr_getstack(&attributes, &low, &size)
  return (low!, size)
}

@discardableResult
public func pthread_key_create(
  _ key: UnsafeMutablePointer<pthread_key_t>!, _ destructor: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 {
  typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
  var made = Glibc.pthread_key_t()
  let status = Glibc.pthread_key_create(&made, destructor.map { unsafeBitCast($0, to: Destructor.self) })
  key.pointee = pthread_key_t(made)
  return status
}
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? {
  Glibc.pthread_getspecific(Glibc.pthread_key_t(key))
}
@discardableResult public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 {
  Glibc.pthread_setspecific(Glibc.pthread_key_t(key), value)
}

private func base(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> UnsafeMutablePointer<Glibc.pthread_mutex_t> {
  UnsafeMutableRawPointer(mutex).assumingMemoryBound(to: Glibc.pthread_mutex_t.self)
}
private func base(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> UnsafeMutablePointer<Glibc.pthread_cond_t> {
  UnsafeMutableRawPointer(condition).assumingMemoryBound(to: Glibc.pthread_cond_t.self)
}
@discardableResult
public func pthread_mutex_init(
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ attributes: UnsafePointer<pthread_mutexattr_t>?
) -> Int32 { Glibc.pthread_mutex_init(base(mutex), nil) }
@discardableResult public func pthread_mutex_destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  Glibc.pthread_mutex_destroy(base(mutex))
}
@discardableResult public func pthread_mutex_lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  Glibc.pthread_mutex_lock(base(mutex))
}
@discardableResult public func pthread_mutex_unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
  Glibc.pthread_mutex_unlock(base(mutex))
}
@discardableResult
public func pthread_cond_init(
  _ condition: UnsafeMutablePointer<pthread_cond_t>, _ attributes: UnsafePointer<pthread_condattr_t>?
) -> Int32 { Glibc.pthread_cond_init(base(condition), nil) }
@discardableResult public func pthread_cond_destroy(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
  Glibc.pthread_cond_destroy(base(condition))
}
@discardableResult
public func pthread_cond_wait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>
) -> Int32 { Glibc.pthread_cond_wait(base(condition), base(mutex)) }
@discardableResult public func pthread_cond_broadcast(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
  Glibc.pthread_cond_broadcast(base(condition))
}
@discardableResult
public func pthread_atfork(
  _ prepare: (@convention(c) () -> Void)?, _ parent: (@convention(c) () -> Void)?, _ child: (@convention(c) () -> Void)?
) -> Int32 { Glibc.pthread_atfork(prepare, parent, child) }
@discardableResult public func sched_yield() -> Int32 { Glibc.sched_yield() }

// MARK: Time

public struct timespec {
  public var tv_sec: Int
  public var tv_nsec: Int
  public init() { self.init(tv_sec: 0, tv_nsec: 0) }
  public init(tv_sec: Int, tv_nsec: Int) {
    self.tv_sec = tv_sec
    self.tv_nsec = tv_nsec
  }
}
public struct clockid_t: Sendable {}
public let CLOCK_REALTIME = clockid_t()
@discardableResult public func clock_gettime(_: clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 {
  var now = Glibc.timespec()
  let result = Glibc.clock_gettime(Glibc.CLOCK_REALTIME, &now)
  time.pointee = timespec(tv_sec: now.tv_sec, tv_nsec: now.tv_nsec)
  return result
}
@discardableResult
public func nanosleep(_ time: UnsafePointer<timespec>!, _ rest: UnsafeMutablePointer<timespec>!) -> Int32 {
  var time = Glibc.timespec(tv_sec: time.pointee.tv_sec, tv_nsec: time.pointee.tv_nsec)
  return Glibc.nanosleep(&time, nil)
}
@discardableResult public func usleep(_ microseconds: UInt32) -> Int32 { Glibc.usleep(microseconds) }

// MARK: The process

public let NSIG: Int32 = 32
public let SIGHUP = Glibc.SIGHUP
public let SIGINT = Glibc.SIGINT
public let SIGQUIT = Glibc.SIGQUIT
public let SIGKILL = Glibc.SIGKILL
public let SIGTERM = Glibc.SIGTERM
public let SIGSTOP = Glibc.SIGSTOP
public let SIGXFSZ = Glibc.SIGXFSZ
public let SIGUSR1 = Glibc.SIGUSR1
public let SIGUSR2 = Glibc.SIGUSR2
@discardableResult
public func signal(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)!) -> (@convention(c) (Int32) -> Void)! {
  Glibc.signal(number, handler)
}
@discardableResult
public func sigaction(
  _ number: Int32, _ action: UnsafePointer<DarwinTypes.sigaction>!,
  _ former: UnsafeMutablePointer<DarwinTypes.sigaction>!
) -> Int32 { systemSigaction(number, action, former) }
/// The function is looked up, because a type has the same name.
private let systemSigaction = unsafeBitCast(
  dlsym(nil, "sigaction")!, to: (@convention(c) (Int32, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Int32).self)
public typealias sigset_t = UInt32
public let SIG_UNBLOCK: Int32 = 2
/// The default handler is a null pointer.
public var SIG_DFL: (@convention(c) (Int32) -> Void)? { nil }
public var SIG_IGN: (@convention(c) (Int32) -> Void)? { unsafeBitCast(1, to: (@convention(c) (Int32) -> Void)?.self) }
@discardableResult public func sigemptyset(_ set: UnsafeMutablePointer<sigset_t>!) -> Int32 {
  set.pointee = 0
  return 0
}
@discardableResult public func sigaddset(_ set: UnsafeMutablePointer<sigset_t>!, _ number: Int32) -> Int32 {
  set.pointee |= 1 << UInt32(number - 1)
  return 0
}
@discardableResult
public func pthread_sigmask(
  _ how: Int32, _ set: UnsafePointer<sigset_t>!, _ former: UnsafeMutablePointer<sigset_t>!
) -> Int32 {
  precondition(how == SIG_UNBLOCK && former == nil, "Only what the package calls is here.")
  var wanted = Glibc.sigset_t()
  Glibc.sigemptyset(&wanted)
  for number in 1..<NSIG where set.pointee & 1 << UInt32(number - 1) != 0 { Glibc.sigaddset(&wanted, number) }
  return Glibc.pthread_sigmask(Glibc.SIG_UNBLOCK, &wanted, nil)
}
@discardableResult public func pthread_detach(_ thread: pthread_t) -> Int32 {
  Glibc.pthread_detach(Glibc.pthread_t(UInt(bitPattern: thread)))
}
@discardableResult public func kill(_ process: Int32, _ number: Int32) -> Int32 { Glibc.kill(process, number) }
public func _exit(_ status: Int32) -> Never { Glibc._exit(status) }
public func getpid() -> Int32 { Glibc.getpid() }
public func geteuid() -> uid_t { Glibc.geteuid() }
public func getenv(_ name: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { Glibc.getenv(name) }
/// On Apple platforms, this is available only on macOS.
public func system(_ command: UnsafePointer<CChar>!) -> Int32 { Glibc.system(command) }
public func exit(_ status: Int32) -> Never { Glibc.exit(status) }

public struct rlimit {
  public var rlim_cur: rlim_t = 0
  public var rlim_max: rlim_t = 0
  public init() {}
}
public let RLIMIT_FSIZE: Int32 = 1
public func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 {
  var found = Glibc.rlimit()
  let answer = Glibc.getrlimit(__rlimit_resource_t(1), &found)
  // RLIM_INFINITY is the largest signed number on Darwin.
  limit.pointee.rlim_cur = min(UInt64(found.rlim_cur), UInt64(Int64.max))
  limit.pointee.rlim_max = min(UInt64(found.rlim_max), UInt64(Int64.max))
  return answer
}

// MARK: Memory and errors

public let VM_PROT_READ: Int32 = 1

public func strlen(_ string: UnsafePointer<CChar>!) -> Int { Int(Glibc.strlen(string)) }
public func memcmp(_ one: UnsafeRawPointer!, _ other: UnsafeRawPointer!, _ count: Int) -> Int32 {
  Glibc.memcmp(one, other, count)
}
public func free(_ pointer: UnsafeMutableRawPointer!) { Glibc.free(pointer) }
public func strerror(_ error: Int32) -> UnsafeMutablePointer<CChar>! { Glibc.strerror(error) }

public let EACCES = Glibc.EACCES
public let EBUSY = Glibc.EBUSY
public let EDQUOT = Glibc.EDQUOT
public let EEXIST = Glibc.EEXIST
public let EFBIG = Glibc.EFBIG
public let EINTR = Glibc.EINTR
public let EAGAIN = Glibc.EAGAIN
public let EINVAL = Glibc.EINVAL
public let ENOSYS = Glibc.ENOSYS
public let EIO = Glibc.EIO
public let ELOOP = Glibc.ELOOP
public let ENAMETOOLONG = Glibc.ENAMETOOLONG
public let ENOENT = Glibc.ENOENT
public let ENOSPC = Glibc.ENOSPC
public let ENOTDIR = Glibc.ENOTDIR
public let ENOTSUP = Glibc.ENOTSUP
public let ENOTTY = Glibc.ENOTTY
public let EPERM = Glibc.EPERM
public let EROFS = Glibc.EROFS
public let ESTALE = Glibc.ESTALE
public let EWOULDBLOCK = Glibc.EWOULDBLOCK
