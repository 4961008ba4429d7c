/// The address of a type or a key, hashed by its bits alone: no input can choose addresses that collide (benchmark:
/// "Resolve a unique Int").
struct Address: Hashable, Sendable {
  let id: ObjectIdentifier

  func _rawHashValue(seed: Int) -> Int {
    let bits = UInt(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15
    return Int(bitPattern: bits ^ (bits >> 32)) ^ seed
  }
}
