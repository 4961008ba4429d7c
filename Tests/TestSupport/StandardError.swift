/// The text that a process wrote to its standard error, as an exit test observes it.
package func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }
