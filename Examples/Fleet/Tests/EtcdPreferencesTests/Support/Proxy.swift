import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A proxy between a store and etcd, whose connections a test can make fail.
final class Proxy: Sendable {
  private struct Conduct: Sendable {
    var refuses = false
    var refusals = 0
    var isSilent = false
    /// The number of connections so far.
    var count = 0
    /// The number of the newest connection whose watch messages are held back.
    var lastMuted = 0
    var onAnswer: (@Sendable () -> Void)?
    var channels: [ObjectIdentifier: any Channel] = [:]
  }

  private static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let conduct = Mutex(Conduct())
  private let target: Int
  private let server = Mutex<(any Channel)?>(nil)

  /// Creates a proxy in front of a port on this machine.
  init(to port: Int) async throws {
    target = port
    let channel = try await ServerBootstrap(group: Proxy.eventLoops)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { [weak self] channel in self?.accept(channel) ?? channel.close() }
      .bind(host: "127.0.0.1", port: 0).get()
    server.withLock { $0 = channel }
  }

  deinit {
    server.withLock { $0 }?.close(promise: nil)
    for channel in conduct.withLock({ $0.channels.values }) { channel.close(promise: nil) }
  }

  var endpoint: URL { URL(string: "http://127.0.0.1:\(server.withLock { $0?.localAddress?.port } ?? 0)")! }

  /// Ends all connections, and refuses new connections until `restore()` is called.
  func cut() {
    let channels = conduct.withLock { conduct in
      conduct.refuses = true
      return conduct.channels.values
    }
    for channel in channels { channel.close(promise: nil) }
  }

  /// The number of refused connections.
  var refusals: Int { conduct.withLock { $0.refusals } }

  /// Keeps current and later connections open, but passes no bytes on.
  func silence() { conduct.withLock { $0.isSilent = true } }

  /// Keeps the current watches open, but passes no messages of these watches on.
  func muteWatches() { conduct.withLock { $0.lastMuted = $0.count } }

  /// Accepts connections and passes their bytes on, after a call of `cut()` or `silence()`.
  func restore() {
    conduct.withLock { conduct in
      conduct.refuses = false
      conduct.isSilent = false
    }
  }

  /// Ends the connection at the next answer to a transaction, instead of passing the answer on.
  ///
  /// - Parameter body: A closure that is called before the connection ends, while the proxy passes no other bytes on.
  func loseNextAnswer(_ body: @escaping @Sendable () -> Void = {}) { conduct.withLock { $0.onAnswer = body } }

  private func accept(_ client: any Channel) -> EventLoopFuture<Void> {
    let isRefused = conduct.withLock { conduct in
      if conduct.refuses { conduct.refusals += 1 }
      return conduct.refuses
    }
    if isRefused { return client.close() }
    return ClientBootstrap(group: client.eventLoop).channelOption(.autoRead, value: false)
      .connect(host: "127.0.0.1", port: target)
      .flatMapThrowing { [self] peer in
        for channel in [client, peer] { conduct.withLock { $0.channels[ObjectIdentifier(channel)] = channel } }
        let number = conduct.withLock { conduct in
          conduct.count += 1
          return conduct.count
        }
        let request = Request(on: number)
        try client.pipeline.syncOperations.addHandler(Relay(to: peer, isAnswer: false, of: request, proxy: self))
        try peer.pipeline.syncOperations.addHandler(Relay(to: client, isAnswer: true, of: request, proxy: self))
        for channel in [client, peer] { channel.setOption(.autoRead, value: true).whenFailure { print($0) } }
      }
  }

  /// The proxy's treatment of received bytes, which are passed on, held back, or lost with the connection.
  fileprivate enum Fate { case pass, hold, lose(@Sendable () -> Void) }

  fileprivate func fate(ofAnswerTo request: Request?) -> Fate {
    conduct.withLock { conduct in
      if conduct.isSilent { return .hold }
      if request?.kind == .watch, let number = request?.number, number <= conduct.lastMuted { return .hold }
      guard request?.kind == .transaction, let onAnswer = conduct.onAnswer else { return .pass }
      conduct.onAnswer = nil
      return .lose(onAnswer)
    }
  }

  fileprivate func forget(_ channel: any Channel) {
    conduct.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
  }
}

/// The latest request on a connection.
private final class Request {
  enum Kind { case transaction, watch, other }

  /// The number of the connection.
  let number: Int
  var kind = Kind.other

  init(on number: Int) { self.number = number }

  /// Records the kind of a request that begins with these bytes.
  func begin(_ bytes: ByteBufferView) {
    kind =
      if bytes.starts(with: "POST /v3/kv/txn".utf8) {
        .transaction
      } else if bytes.starts(with: "POST /v3/watch".utf8) {
        .watch
      } else {
        .other
      }
  }
}

/// A channel handler that passes bytes from one side of the proxy to the other side.
private final class Relay: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: any Channel
  private let isAnswer: Bool
  private let request: Request
  private let proxy: Proxy

  init(to peer: any Channel, isAnswer: Bool, of request: Request, proxy: Proxy) {
    self.peer = peer
    self.isAnswer = isAnswer
    self.request = request
    self.proxy = proxy
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if !isAnswer, bytes.readableBytesView.starts(with: "POST ".utf8) { request.begin(bytes.readableBytesView) }
    switch proxy.fate(ofAnswerTo: isAnswer ? request : nil) {
    case .pass: peer.writeAndFlush(bytes, promise: nil)
    case .hold: break
    case .lose(let body):
      body()
      peer.close(promise: nil)
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    proxy.forget(context.channel)
    peer.close(promise: nil)
  }
}
