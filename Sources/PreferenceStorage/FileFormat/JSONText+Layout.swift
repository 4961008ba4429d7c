extension JSONText {
  /// The text, if it is JSON, without space at its ends and between its parts.
  init?(validating string: String) {
    guard JSONText(string).isJSON else { return nil }
    self = JSONText(string).compacted
  }

  /// Whether the text is one JSON value, with or without space around it.
  var isJSON: Bool {
    withBytes { bytes in
      var scanner = JSONScanner(bytes)
      scanner.skipSpace()
      guard scanner.skipValue() else { return false }
      scanner.skipSpace()
      return scanner.isAtEnd
    }
  }

  /// The text that is to be set; nil for `null` and nil.
  ///
  /// - Throws: `.invalidValue` if it isn't JSON.
  init?(json: String?, forKey key: String) throws(PreferenceError) {
    guard let json else { return nil }
    guard let text = JSONText(validating: json) else {
      // Its content may be a secret.
      throw PreferenceError(
        .invalidValue, "the text of \(json.utf8.count) bytes is not JSON, and was not set; a string needs its quotes",
        key: key)
    }
    if text.isNull { return nil }
    self = text
  }

  /// The text without the space between its parts, so that it fits in a line.
  var compacted: JSONText {
    var compacted: [UInt8] = []
    withBytes { bytes in
      compacted.reserveCapacity(bytes.count)
      var isInString = false
      var isEscaped = false
      for byte in bytes {
        if isInString {
          if isEscaped {
            isEscaped = false
          } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
          } else if byte == UInt8(ascii: "\"") {
            isInString = false
          }
        } else if byte == UInt8(ascii: "\"") {
          isInString = true
        } else if byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
          continue
        }
        compacted.append(byte)
      }
    }
    return JSONText(String(decoding: compacted, as: UTF8.self))
  }

  /// A JSON object with a line for each key.
  static func object(_ members: [PreferenceChange]) -> String {
    if members.isEmpty { return "{}\n" }
    var bytes = Array("{".utf8)
    var separator = "\n  "
    for member in members {
      bytes.append(contentsOf: separator.utf8)
      separator = ",\n  "
      JSONString.append(member.key, to: &bytes)
      bytes.append(contentsOf: ": ".utf8)
      (member.text ?? .null).withBytes { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: "\n}\n".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}
