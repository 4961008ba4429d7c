import HTTPTypes
import Hummingbird
import LinkCore
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@Suite("The last request of a connection") struct LastRequestTests {
  let channel = EmbeddedChannel(handler: LastRequestHandler(linger: .seconds(1)))

  init() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait() }

  private func shutDown() { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }

  private func ask() throws {
    try channel.writeInbound(
      HTTPRequestPart.head(HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")))
    try channel.writeInbound(HTTPRequestPart.end(nil))
  }

  /// Writes a part of a response, and returns its header `Connection`, or nil if it has none.
  @discardableResult private func write(_ part: HTTPResponsePart) throws -> String? {
    try channel.writeOutbound(part)
    guard case .head(let head) = try channel.readOutbound(as: HTTPResponsePart.self) else { return nil }
    return head.headerFields[.connection]
  }

  private let head = HTTPResponsePart.head(HTTPResponse(status: .ok))

  @Test("Before the shutdown, a response says nothing of the connection")
  func keptAlive() throws {
    for _ in 1...3 {
      try ask()
      #expect(try write(head) == nil)
      try write(.end(nil))
    }
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
  }

  @Test("A connection without a request waits for one, and is closed without one")
  func idle() throws {
    shutDown()
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
  }

  @Test("A request that arrives after the shutdown has begun is answered, however long that takes, and is the last")
  func late() throws {
    shutDown()
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
    try ask()
    channel.embeddedEventLoop.advanceTime(by: .hours(1))
    #expect(channel.isActive)
    #expect(try write(head) == "close")
    try write(.end(nil))
    #expect(!channel.isActive)
  }

  @Test("A request under way is the last")
  func underWay() throws {
    try ask()
    shutDown()
    #expect(try write(.head(HTTPResponse(status: .continue))) == nil)
    #expect(try write(head) == "close")
    try write(.end(nil))
    #expect(!channel.isActive)
  }

  @Test("After a response that had begun before the shutdown, one more request is answered")
  func begun() throws {
    try ask()
    #expect(try write(head) == nil)
    shutDown()
    try write(.end(nil))
    #expect(channel.isActive)
    try ask()
    #expect(try write(head) == "close")
    try write(.end(nil))
    #expect(!channel.isActive)
  }

  @Test("Of several requests that have arrived, the last says that it is")
  func pipelined() throws {
    for _ in 1...2 { try ask() }
    shutDown()
    #expect(try write(head) == nil)
    try write(.end(nil))
    #expect(try write(head) == "close")
    try write(.end(nil))
    #expect(!channel.isActive)
  }
}
