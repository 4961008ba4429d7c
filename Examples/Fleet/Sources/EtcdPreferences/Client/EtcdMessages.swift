internal import Foundation

// The messages of etcd's JSON gateway that the store uses. Keys and values are bytes in base64, and 64-bit integers are
// strings. Zeros, empty strings and false are left out.

/// A namespace for functions that encode and decode messages.
enum EtcdMessage {
  static func encode(_ message: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    // Messages consist of bytes, strings and integers, which can always be encoded.
    do { return try encoder.encode(message) } catch { fatalError("A message to etcd can't be encoded: \(error)") }
  }

  static func decode<Message: Decodable>(_ type: Message.Type, from data: Data) throws -> Message {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: data)
  }
}

/// A revision of etcd, which is a number that each changing transaction raises by one.
struct Revision: Codable, Hashable, Comparable, Sendable {
  var number: Int64

  static let none = Revision(0)
  var next: Revision { Revision(number + 1) }

  init(_ number: Int64) { self.number = number }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let number = Int64(text) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no revision: \(text)"))
    }
    self.number = number
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(String(number))
  }

  static func < (one: Revision, other: Revision) -> Bool { one.number < other.number }
}

/// The header of every answer, with etcd's cluster and current revision.
struct ResponseHeader: Decodable, Sendable {
  var clusterId: String?
  var revision: Revision?
}

/// A key and its value in etcd.
struct KeyValue: Decodable, Sendable {
  var key: Data
  var value: Data?
  var createRevision: Revision?
  var modRevision: Revision?
}

/// A request for one key, or for the keys from `key` up to `rangeEnd`.
struct RangeRequest: Encodable, Sendable {
  var key: Data
  var rangeEnd: Data?
  var countOnly: Bool?
}

struct RangeResponse: Decodable, Sendable {
  var header: ResponseHeader?
  var kvs: [KeyValue]?
}

/// A transaction, with changes to make if all comparisons hold, and reads to make otherwise.
struct TransactionRequest: Encodable, Sendable {
  struct Comparison: Encodable, Sendable {
    var key: Data
    var rangeEnd: Data?
    var target = "MOD"
    var result: String
    var modRevision: Revision

    /// Returns a comparison that holds if the key still has this revision, or has no value if the revision is 0.
    static func unchanged(_ key: Data, since revision: Revision) -> Comparison {
      Comparison(key: key, result: "EQUAL", modRevision: revision)
    }

    /// Returns a comparison that never holds.
    static func never(_ key: Data) -> Comparison { Comparison(key: key, result: "LESS", modRevision: .none) }

    /// Returns a comparison that holds if no key of the range has a later revision.
    static func unchanged(_ range: KeyRange, since revision: Revision) -> Comparison {
      Comparison(key: range.start, rangeEnd: range.end, result: "LESS", modRevision: revision.next)
    }
  }

  enum Operation: Encodable, Sendable {
    struct Put: Encodable, Sendable {
      var key: Data
      var value: Data
    }
    struct Delete: Encodable, Sendable {
      var key: Data
      var rangeEnd: Data?
    }

    case put(Put)
    case delete(Delete)
    case range(RangeRequest)

    /// The total size of the operation's keys and value in bytes.
    var size: Int {
      switch self {
      case .put(let put): put.key.count + put.value.count
      case .delete(let delete): delete.key.count + (delete.rangeEnd?.count ?? 0)
      case .range(let range): range.key.count + (range.rangeEnd?.count ?? 0)
      }
    }

    private enum CodingKeys: String, CodingKey {
      case put = "requestPut"
      case delete = "requestDeleteRange"
      case range = "requestRange"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      switch self {
      case .put(let put): try container.encode(put, forKey: .put)
      case .delete(let delete): try container.encode(delete, forKey: .delete)
      case .range(let range): try container.encode(range, forKey: .range)
      }
    }
  }

  var compare: [Comparison] = []
  var success: [Operation] = []
  var failure: [Operation] = []

  /// An upper bound of the request's size in bytes, as etcd measures the size.
  ///
  /// etcd counts the bytes of its own format, which has keys and values without base64, and a few bytes for each part.
  var size: Int {
    let overhead = 40
    let comparisons = compare.map { $0.key.count + ($0.rangeEnd?.count ?? 0) + overhead }
    return overhead + comparisons.reduce(0, +) + (success + failure).map { $0.size + overhead }.reduce(0, +)
  }
}

struct TransactionResponse: Decodable, Sendable {
  struct Part: Decodable, Sendable { var responseRange: RangeResponse? }

  var header: ResponseHeader
  var succeeded: Bool?
  var responses: [Part]?
}

struct WatchRequest: Encodable, Sendable {
  struct Creation: Encodable, Sendable {
    var key: Data
    var rangeEnd: Data?
    var startRevision: Revision
    var progressNotify = true
  }

  var createRequest: Creation
}

/// A message of a watch, which is one line of etcd's answer.
struct WatchMessage: Decodable, Sendable {
  struct Event: Decodable, Sendable {
    var type: String?
    var kv: KeyValue
    var isRemoval: Bool { type == "DELETE" }
  }

  struct Result: Decodable, Sendable {
    var header: ResponseHeader?
    var created: Bool?
    var canceled: Bool?
    var cancelReason: String?
    var compactRevision: Revision?
    var events: [Event]?
  }

  var result: Result?
}

struct AuthenticationRequest: Encodable, Sendable {
  var name: String
  var password: String
}

struct AuthenticationResponse: Decodable, Sendable { var token: String }

/// The answer to a request that etcd refuses.
struct RefusalMessage: Decodable, Sendable {
  var message: String
  var code: Int
}
