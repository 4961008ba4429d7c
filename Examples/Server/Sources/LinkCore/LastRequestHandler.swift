import HTTPTypes
public import HummingbirdCore
public import NIOCore
public import NIOHTTPTypes

extension HTTPServerBuilder {
  /// Returns a builder for an HTTP/1 server that, before it stops, answers all requests that clients have sent.
  ///
  /// - Parameter linger: The time for which a connection without a request stays open when the server shuts down.
  public static func answeringLastRequests(within linger: TimeAmount) -> HTTPServerBuilder {
    .http1(configuration: .init(additionalChannelHandlers: [LastRequestHandler(linger: linger)]))
  }
}

/// A handler that ends a kept-alive connection when the server shuts down, without leaving a request unanswered.
///
/// Without this handler, Hummingbird closes a connection immediately if no request is in progress, and otherwise after
/// the response. A client that sends its next request at that moment gets no response, and can't know whether the
/// request was carried out.
///
/// With this handler, the last response on a connection has the header `Connection: close`, which tells the client to
/// send no further requests. A connection without a request in progress stays open for a while, in case a last request
/// arrives.
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
  /// Whether a response with the header `Connection: close` has been sent.
  private var hasAnnouncedEnd = false
  private var end: Scheduled<Void>?

  /// Creates the handler of one connection.
  ///
  /// - Parameter linger: The time for which a connection without a request stays open when the server shuts down.
  public init(linger: TimeAmount) { self.linger = linger }

  /// Counts the requests, because a connection with an unanswered request stays open.
  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head = unwrapInboundIn(data) {
      requests += 1
      if !hasAnnouncedEnd { end?.cancel() }
    }
    context.fireChannelRead(data)
  }

  /// Prepares to close the connection when the server starts to shut down.
  public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
    // The event isn't passed on, because the next handler would close the connection.
    if isShuttingDown { return }
    isShuttingDown = true
    if requests == 0 { scheduleEnd(context) }
  }

  /// Adds `Connection: close` to the last response, and ends the connection after this response.
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

  /// Schedules the end of the connection, in case the client doesn't close it.
  private func scheduleEnd(_ context: ChannelHandlerContext) {
    end?.cancel()
    end = context.eventLoop.scheduleTask(in: linger) { [channel = context.channel] in channel.close(promise: nil) }
  }

  /// Writes the end of the last response, and then closes only the output of the connection.
  ///
  /// If the input were closed too, unread bytes from the client would make the system discard the response.
  private func finish(_ context: ChannelHandlerContext, with data: NIOAny, _ promise: EventLoopPromise<Void>?) {
    let written = promise ?? context.eventLoop.makePromise()
    written.futureResult.whenComplete { [channel = context.channel] _ in channel.close(mode: .output, promise: nil) }
    context.write(data, promise: written)
    scheduleEnd(context)
  }

  /// Cancels the scheduled end of the connection, which is already closed.
  public func channelInactive(context: ChannelHandlerContext) {
    end?.cancel()
    context.fireChannelInactive()
  }
}
