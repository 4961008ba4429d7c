import HTTPTypes
public import HummingbirdCore
public import NIOCore
public import NIOHTTPTypes

extension HTTPServerBuilder {
  /// An HTTP/1 server that answers all requests that its clients have sent before it stops.
  ///
  /// - Parameter linger: The time for which a connection without a request stays open when the server shuts down.
  public static func answeringLastRequests(within linger: TimeAmount) -> HTTPServerBuilder {
    .http1(configuration: .init(additionalChannelHandlers: [LastRequestHandler(linger: linger)]))
  }
}

/// A handler that ends a kept-alive connection when the server shuts down, without leaving a request unanswered.
///
/// Without this handler, Hummingbird closes a connection at once if it has no request under way, and otherwise after
/// the response. A client that sends its next request at that moment gets no answer, and can't know whether the request
/// was carried out.
///
/// With this handler, the last response on a connection has the header `Connection: close`, which tells the client to
/// send nothing more. A connection without a request under way waits for one for a while, and is then closed.
public final class LastRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  /// The parts of requests that this handler receives from the connection.
  public typealias InboundIn = HTTPRequestPart
  /// The parts of requests that this handler passes on to the application.
  public typealias InboundOut = HTTPRequestPart
  /// The parts of responses that this handler receives from the application.
  public typealias OutboundIn = HTTPResponsePart
  /// The parts of responses that this handler passes on to the connection.
  public typealias OutboundOut = HTTPResponsePart

  private let linger: TimeAmount
  /// The number of requests that haven't been answered yet.
  private var requests = 0
  private var isShuttingDown = false
  /// Whether a response has told the client to send nothing more.
  private var hasAnnouncedEnd = false
  private var end: Scheduled<Void>?

  /// Creates the handler of one connection.
  ///
  /// - Parameter linger: The time for which a connection without a request stays open when the server shuts down.
  public init(linger: TimeAmount) { self.linger = linger }

  /// Counts the requests.
  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head = unwrapInboundIn(data) {
      requests += 1
      if !hasAnnouncedEnd { end?.cancel() }
    }
    context.fireChannelRead(data)
  }

  /// Starts to close the connection when the server shuts down.
  public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
    // The event isn't passed on, because the next handler would close the connection.
    if isShuttingDown { return }
    isShuttingDown = true
    if requests == 0 { scheduleEnd(context) }
  }

  /// Marks the last response, and ends the connection after it.
  public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var head) where isShuttingDown && requests == 1 && head.status.kind != .informational:
      hasAnnouncedEnd = true
      head.headerFields[.connection] = "close"
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end:
      requests = max(0, requests - 1)
      if hasAnnouncedEnd, requests == 0 { return finish(context, with: data, promise) }
      context.write(data, promise: promise)
      if isShuttingDown, requests == 0 { scheduleEnd(context) }
    case .head, .body:
      context.write(data, promise: promise)
    }
  }

  /// Closes the connection if the client doesn't.
  private func scheduleEnd(_ context: ChannelHandlerContext) {
    end?.cancel()
    end = context.eventLoop.scheduleTask(in: linger) { [channel = context.channel] in channel.close(promise: nil) }
  }

  /// Writes the end of the last response, and then closes only the output: bytes of the client that are never read
  /// would make the system discard the response.
  private func finish(_ context: ChannelHandlerContext, with data: NIOAny, _ promise: EventLoopPromise<Void>?) {
    let written = promise ?? context.eventLoop.makePromise()
    written.futureResult.whenComplete { [channel = context.channel] _ in channel.close(mode: .output, promise: nil) }
    context.write(data, promise: written)
    scheduleEnd(context)
  }

  /// Cancels the scheduled end of a connection that has ended by itself.
  public func channelInactive(context: ChannelHandlerContext) {
    end?.cancel()
    context.fireChannelInactive()
  }
}
