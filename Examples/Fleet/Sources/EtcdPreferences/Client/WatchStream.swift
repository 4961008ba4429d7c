internal import AsyncHTTPClient
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// The messages of one watch, for one thread that waits for them.
final class WatchStream: Sendable {
  /// The outcome of waiting for a message.
  enum Next {
    case message(WatchMessage.Result)
    /// No message arrived in time.
    case silence
  }

  private struct State: Sendable {
    var messages: [WatchMessage.Result] = []
    var end: EtcdError?
    var task: HTTPClient.Task<Void>?
  }

  /// The address of the member that serves the watch.
  let endpoint: URL
  private let state = Mutex(State())
  /// A semaphore that is signaled once for each message, and once for the end of the watch.
  private let bell = DispatchSemaphore(value: 0)

  init(of endpoint: URL) { self.endpoint = endpoint }

  func begin(_ task: HTTPClient.Task<Void>) {
    let isOver = state.withLock { state in
      state.task = task
      return state.end != nil
    }
    if isOver { task.cancel() }
  }

  /// Waits for the next message.
  ///
  /// - Throws: The reason that the watch has ended.
  func next(within limit: Duration) throws(EtcdError) -> Next {
    guard bell.wait(timeout: .now() + limit.seconds) == .success else { return .silence }
    let (message, end) = state.withLock { state in
      (state.messages.isEmpty ? nil : state.messages.removeFirst(), state.end)
    }
    if let message { return .message(message) }
    // The semaphore is signaled again, so that each later wait also finds the end.
    bell.signal()
    throw end ?? EtcdError(.uncertain, "the watch has ended")
  }

  /// Ends the watch, and may be called on any thread.
  func stop() {
    end(with: EtcdError(.uncertain, "the watch was stopped"))
    state.withLock { $0.task }?.cancel()
  }

  fileprivate func receive(_ line: Data) {
    let result: WatchMessage.Result
    do {
      guard let message = try EtcdMessage.decode(WatchMessage.self, from: line).result else {
        let text = String(decoding: line.prefix(500), as: UTF8.self)
        return end(with: EtcdError(.uncertain, "\(endpoint.absoluteString) ends the watch (\(text))"))
      }
      result = message
    } catch {
      return end(with: EtcdError(.refused, "\(endpoint.absoluteString) doesn't answer as etcd does (\(error))"))
    }
    state.withLock { $0.messages.append(result) }
    bell.signal()
  }

  fileprivate func end(with error: any Error) {
    let reason = error as? EtcdError ?? EtcdError(error, at: endpoint)
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? reason }
      return state.end == nil
    }
    if isFirst { bell.signal() }
  }

  fileprivate struct Closed: Error {}
}

/// A receiver of etcd's answer to a watch, which splits the bytes into lines on the client's event loop.
final class WatchReceiver: HTTPClientResponseDelegate {
  private let stream: WatchStream
  private let rest = Mutex(Data())

  init(of stream: WatchStream) { self.stream = stream }

  func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    let lines = rest.withLock { rest in
      rest.append(contentsOf: buffer.readableBytesView)
      var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      rest = lines.popLast().map { Data($0) } ?? Data()
      return lines.filter { !$0.isEmpty }.map { Data($0) }
    }
    for line in lines { stream.receive(line) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<Void>) {
    // If the answer isn't a watch, such as an error, it may have no newline at its end.
    let last = rest.withLock { $0 }
    if !last.isEmpty { stream.receive(last) }
    stream.end(with: WatchStream.Closed())
  }

  func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { stream.end(with: error) }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
