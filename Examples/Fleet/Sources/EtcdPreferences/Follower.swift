internal import Dispatch
internal import Foundation
internal import NIOCore
internal import PreferenceStorage
internal import Synchronization

/// A thread that reads all values from etcd, watches their changes, and starts over when the watch ends.
///
/// A watch ends if its connection closes, if its cluster member loses the leader, or if etcd has compacted its first
/// revision. After that, the thread reads all values again. It therefore misses no change, and notices if a cluster was
/// restored from a backup.
final class Follower: Sendable {
  private struct Course: Sendable {
    var isOver = false
    var watch: WatchStream?
  }

  private let connection: EtcdConnection
  private let course = Mutex(Course())
  private let end = DispatchSemaphore(value: 0)

  init(_ connection: EtcdConnection) { self.connection = connection }

  /// Starts the thread, which doesn't keep the store alive.
  func begin() {
    let thread = Thread { self.run() }
    thread.name = "etcd"
    thread.start()
  }

  /// Asks the thread to end, without waiting for its end.
  func stop() {
    let watch = course.withLock { course in
      course.isOver = true
      return course.watch
    }
    watch?.stop()
    end.signal()
  }

  private static let longestPause = Duration.seconds(5)

  /// The time to wait for etcd's answer when a watch begins, and after a watch has been silent.
  private var answerLimit: Duration { connection.client.cluster.requestLimit / 4 }

  private func run() {
    var pause = Duration.zero
    while !course.withLock({ $0.isOver }) {
      do throws(EtcdError) {
        let (changed, revision) = try connection.load()
        connection.values.arrive()
        connection.values.hub.tell(changed)
        if follow(from: revision) { pause = .zero }
      } catch {
        connection.values.leave(error.whenReading)
      }
      // The first attempt after a watch has no pause, because a watch also ends if only its own member stops.
      if pause > .zero, end.wait(timeout: .now() + pause.seconds) == .success { return }
      pause = min(max(pause * 2, .milliseconds(50)), Follower.longestPause)
    }
  }

  /// Applies the events of a watch until the watch ends, and returns whether it had an event or a long silence.
  ///
  /// This method doesn't check whether etcd is available, because the next read of all values asks every member.
  private func follow(from revision: Revision) -> Bool {
    guard var watch = open(from: revision.next) else { return false }
    defer { watch.stop() }
    var hasLasted = false
    while true {
      let next: WatchStream.Next
      do throws(EtcdError) {
        next = try watch.next(within: connection.client.cluster.silenceLimit)
      } catch {
        connection.client.moveOn(from: watch.endpoint)
        return hasLasted
      }
      switch next {
      case .message(let message):
        if message.canceled == true { return hasLasted }
        if let events = message.events {
          connection.values.hub.tell(connection.apply(events))
          hasLasted = true
        }
      case .silence:
        hasLasted = true
        guard let next = successor(of: watch) else { return true }
        watch = next
      }
    }
  }

  /// Opens a watch, and returns the watch after etcd has confirmed it, or nil if etcd doesn't confirm it.
  private func open(from revision: Revision) -> WatchStream? {
    let watch: WatchStream
    do throws(EtcdError) {
      watch = try connection.client.watch(connection.range, from: revision)
    } catch {
      return nil
    }
    let isOver = course.withLock { course in
      course.watch = watch
      return course.isOver
    }
    if !isOver, hasBegun(watch) { return watch }
    watch.stop()
    connection.client.moveOn(from: watch.endpoint)
    return nil
  }

  /// Waits for etcd's first message, and returns whether the message confirms the watch.
  private func hasBegun(_ watch: WatchStream) -> Bool {
    do throws(EtcdError) {
      guard case .message(let message) = try watch.next(within: answerLimit) else { return false }
      return message.created == true && message.canceled != true
    } catch {
      return false
    }
  }

  /// Returns the watch to continue with after a silence, or nil if all values have to be read again.
  ///
  /// A connection may be dead without having ended. If etcd has newer changes, the store may have missed them, unless
  /// they are to other stores' keys. A new watch that starts after the last known change reports all missed changes.
  /// They include removals, which a comparison of values can't show.
  private func successor(of watch: WatchStream) -> WatchStream? {
    let end = NIODeadline.now() + TimeAmount(answerLimit)
    let seen = connection.values.replica.revision
    let current: Revision
    do throws(EtcdError) {
      current = try connection.currentRevision(until: end)
    } catch {
      return nil
    }
    if case .readOnly = connection.values.state { connection.tryWriting(until: end) }
    if current == seen { return watch }
    watch.stop()
    // If etcd's revision is lower, etcd was restored from a backup.
    return current > seen ? open(from: seen.next) : nil
  }
}
