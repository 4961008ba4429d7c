internal import Dispatch
internal import Foundation
internal import NIOCore
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

  /// For how long etcd is waited for when a watch begins, and after its silence.
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
      // The first attempt is made at once, as a watch ends whenever a member does.
      if pause > .zero, end.wait(timeout: .now() + pause.seconds) == .success { return }
      pause = min(max(pause * 2, .milliseconds(50)), Follower.longestPause)
    }
  }

  /// Applies what the watch tells until it ends, and returns whether it lasted until it told something or was silent for long.
  ///
  /// Whether etcd is away is seen by the next read, from another member if there is one.
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

  /// Opens a watch, and returns it when etcd has said that it begins; nil if it doesn't.
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

  /// Waits for what etcd says first.
  private func hasBegun(_ watch: WatchStream) -> Bool {
    do throws(EtcdError) {
      guard case .message(let message) = try watch.next(within: answerLimit) else { return false }
      return message.created == true && message.canceled != true
    } catch {
      return false
    }
  }

  /// Returns the watch to go on with after a silence; nil if everything is to be read again.
  ///
  /// A connection can be dead without an end. If etcd has changes that aren't here, they are others' or were missed, which a watch
  /// from the last one on shows: removals too, which leave nothing to compare.
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
    // etcd was restored from a backup if it has fewer changes.
    return current > seen ? open(from: seen.next) : nil
  }
}
