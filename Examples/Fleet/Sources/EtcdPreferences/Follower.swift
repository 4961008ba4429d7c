internal import Dispatch
internal import Foundation
internal import PreferenceStorage
internal import Synchronization

/// Follows etcd on a thread of its own: reads everything, watches what changes, and begins again when the watch ends.
///
/// A watch ends with its connection, with its member's leader, or when what it was to begin with is compacted away. Since
/// everything is read again, nothing is missed in between, and a cluster that was restored from a backup is followed too.
final class Follower: Sendable {
  private struct Course: Sendable {
    var isOver = false
    var watch: WatchStream?
  }

  private let connection: EtcdConnection
  private let course = Mutex(Course())
  private let end = DispatchSemaphore(value: 0)

  init(_ connection: EtcdConnection) { self.connection = connection }

  /// Begins, on a new thread, which doesn't keep the store.
  func begin() {
    let thread = Thread { self.run() }
    thread.name = "etcd"
    thread.start()
  }

  /// Ends it, soon.
  func stop() {
    let watch = course.withLock { course in
      course.isOver = true
      return course.watch
    }
    watch?.stop()
    end.signal()
  }

  private static let longestPause = Duration.seconds(5)

  private func run() {
    var pause = Duration.zero
    while !course.withLock({ $0.isOver }) {
      do throws(EtcdError) {
        let (changed, revision) = try connection.load()
        connection.values.arrive()
        connection.values.hub.tell(changed)
        if try follow(from: revision) { pause = .zero }
      } catch {
        connection.values.leave(error.whenReading)
      }
      // The first attempt is made at once, as a watch ends whenever a member does.
      if pause > .zero, end.wait(timeout: .now() + pause.seconds) == .success { return }
      pause = min(max(pause * 2, .milliseconds(50)), Follower.longestPause)
    }
  }

  /// Applies what the watch tells until it ends, and returns whether it told anything.
  ///
  /// - Throws: If etcd doesn't answer any more.
  private func follow(from revision: Revision) throws(EtcdError) -> Bool {
    let watch = try connection.client.watch(connection.range, from: revision.next)
    defer { watch.stop() }
    let isOver = course.withLock { course in
      course.watch = watch
      return course.isOver
    }
    if isOver { return false }
    var hasTold = false
    while true {
      let next: WatchStream.Next
      do {
        next = try watch.next(within: connection.client.cluster.silenceLimit)
      } catch {
        // Whether etcd is away is seen by the next read, from another member if there is one.
        connection.client.moveOn()
        return hasTold
      }
      switch next {
      case .message(let message):
        if message.canceled == true { return hasTold }
        if let events = message.events {
          connection.values.hub.tell(connection.apply(events))
          hasTold = true
        }
      case .silence:
        // A connection can be dead without an end.
        if try !connection.isUpToDate() { return hasTold }
      }
    }
  }
}
