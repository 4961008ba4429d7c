// The names are Apple's.
// swift-format-ignore-file

// Dispatch's file-system sources, which Dispatch lacks on Linux, emulated by inotify with the rules of kqueue. A source
// belongs to an open file, whatever its names are. A folder's source reports names that are added or removed; after the
// folder was removed or renamed, the source stays but reports nothing. A source is registered some time after its
// activation.

public import Dispatch
internal import Glibc
internal import Synchronization

public protocol DispatchSourceFileSystemObject: AnyObject {
  var data: DispatchSource.FileSystemEvent { get }
  func setEventHandler(handler: (@Sendable () -> Void)?)
  func setCancelHandler(handler: (@Sendable () -> Void)?)
  func setRegistrationHandler(handler: (@Sendable () -> Void)?)
  func activate()
  func cancel()
}

extension DispatchSource {
  public class func makeFileSystemObjectSource(
    fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceFileSystemObject {
    InotifySource(fileDescriptor, eventMask, queue ?? .global())
  }
}

/// `@unchecked Sendable`: `state` is atomic, the handlers are set before the activation, and everything else that
/// changes is used only on `queue`.
private final class InotifySource: DispatchSourceFileSystemObject, @unchecked Sendable {
  private enum State { static let new = 0, active = 1, cancelled = 2 }

  private let file: Int32
  private let mask: DispatchSource.FileSystemEvent
  private let queue: DispatchQueue
  private let state = Atomic<Int>(State.new)
  private var source: (any DispatchSourceRead)?
  private var onEvent: (() -> Void)?
  private var onCancel: (() -> Void)?
  private var onRegistration: (() -> Void)?
  private var isGone = false
  private var size: Int = 0
  private(set) var data: DispatchSource.FileSystemEvent = []

  init(_ file: Int32, _ mask: DispatchSource.FileSystemEvent, _ queue: DispatchQueue) {
    (self.file, self.mask, self.queue) = (file, mask, queue)
  }

  func setEventHandler(handler: (@Sendable () -> Void)?) { onEvent = handler }
  func setCancelHandler(handler: (@Sendable () -> Void)?) { onCancel = handler }
  func setRegistrationHandler(handler: (@Sendable () -> Void)?) { onRegistration = handler }

  func activate() {
    guard state.compareExchange(expected: State.new, desired: State.active, ordering: .relaxed).exchanged else { return }
    queue.async { self.register() }
  }

  func cancel() {
    guard state.exchange(State.cancelled, ordering: .relaxed) != State.cancelled else { return }
    queue.async {
      self.source?.cancel()
      self.source = nil
      self.onCancel?()
      (self.onEvent, self.onCancel, self.onRegistration) = (nil, nil, nil)
    }
  }

  private var isActive: Bool { state.load(ordering: .relaxed) == State.active }

  private func register() {
    guard isActive else { return }
    let events = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    precondition(events >= 0, "inotify_init1: \(Glibc.errno)")
    size = status.st_size
    var path = [CChar](repeating: 0, count: 4096)
    _ = readlink("/proc/self/fd/\(file)", &path, path.count - 1)
    // The file and its parent folder are watched, because Linux doesn't report the removal of an open folder.
    _ = inotify_add_watch(events, "/proc/self/fd/\(file)", UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF))
    let parent = inotify_add_watch(events, String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/..", UInt32(IN_DELETE))
    let source = DispatchSource.makeReadSource(fileDescriptor: events, queue: queue)
    source.setEventHandler { [unowned self] in self.read(events, parent) }
    source.setCancelHandler { Glibc.close(events) }
    source.resume()
    self.source = source
    onRegistration?()
    onRegistration = nil
  }

  private var status: Glibc.stat {
    var status = Glibc.stat()
    fstat(file, &status)
    return status
  }

  private func read(_ events: Int32, _ parent: Int32) {
    var found: DispatchSource.FileSystemEvent = []
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
      while case let count = Glibc.read(events, buffer.baseAddress, buffer.count), count > 0 {
        var offset = 0
        while offset + 16 <= count {
          let watch = buffer.load(fromByteOffset: offset, as: Int32.self)
          let event = buffer.load(fromByteOffset: offset + 4, as: UInt32.self)
          if watch != parent { found.formUnion(self.events(of: event)) }
          offset += 16 + Int(buffer.load(fromByteOffset: offset + 12, as: UInt32.self))
        }
      }
    }
    if !isGone, status.st_nlink == 0 {
      isGone = true
      found.insert(.delete)
    }
    data = found.intersection(mask)
    if isActive, !data.isEmpty { onEvent?() }
  }

  private func events(of event: UInt32) -> DispatchSource.FileSystemEvent {
    if event & UInt32(IN_MOVE_SELF) != 0 { return .rename }
    if event & UInt32(IN_ATTRIB) != 0 { return .attrib }
    defer { size = status.st_size }
    return event & UInt32(IN_MODIFY) != 0 && status.st_size > size ? [.write, .extend] : .write
  }
}
