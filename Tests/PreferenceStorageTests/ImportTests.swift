import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("Import and export") struct ImportTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("a JSON object is taken over in one line, number by number", arguments: StoreKind.allCases)
  func json(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "kept")
    try store.set(1, forKey: "removed")
    let source = folder.file("source.json")
    try source.overwrite(
      """
      {
        "count": 18446744073709551615,
        "theme": { "name" : "da\\"rk \\\\",
                   "sizes": [ 1, 2 ] },
        "removed": null
      }

      """)
    #expect(try store.import(from: source).count == 3)
    #expect(store.keys == ["kept", "count", "theme"])
    #expect(try store.value(UInt64.self, forKey: "count") == .max)
    #expect(try store.value(Theme.self, forKey: "theme") == Theme(name: "da\"rk \\", sizes: [1, 2]))
    if kind == .file {
      #expect(try folder.file().text.split(separator: "\n").count == 4)
      #expect(try FilePreferenceStore(path: FilePath(folder.file().path), system: FileSystem()).keys == store.keys)
    }
  }

  @Test("a property list is taken over, dates and data included", arguments: [true, false])
  func propertyList(binary: Bool) throws {
    let values: [String: Any] = [
      "flag": true, "count": -7, "large": UInt64.max, "ratio": 0.1, "name": "é",
      "date": Date(timeIntervalSince1970: 1),
      "data": Data([0, 255]), "list": [1, "two", [true]], "nested": ["a": ["b": 1.5]],
    ]
    let source = folder.file("source.plist")
    try PropertyListSerialization.data(fromPropertyList: values, format: binary ? .binary : .xml, options: 0)
      .write(to: source)
    let store = MemoryPreferenceStore()
    #expect(try store.import(from: source).count == 9)
    #expect(try store.value(Bool.self, forKey: "flag") == true)
    #expect(try store.value(Int.self, forKey: "count") == -7)
    #expect(try store.value(UInt64.self, forKey: "large") == .max)
    #expect(try store.value(Double.self, forKey: "ratio") == 0.1)
    #expect(try store.value(String.self, forKey: "name") == "é")
    #expect(try store.value(Date.self, forKey: "date") == Date(timeIntervalSince1970: 1))
    #expect(try store.value(Data.self, forKey: "data") == Data([0, 255]))
    #expect(try store.value([String: [String: Double]].self, forKey: "nested") == ["a": ["b": 1.5]])
  }

  @Test("zeros of a property list keep their sign and their kind", arguments: [true, false])
  func zeros(binary: Bool) throws {
    let source = folder.file("source.plist")
    if binary {
      let values: [String: Any] = ["negative": -0.0, "list": [-0.0], "none": 0]
      try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0).write(to: source)
    } else {
      // On Linux, Foundation serializes this zero without its sign.
      try source.overwrite(
        """
        <plist version="1.0"><dict><key>negative</key><real>-0.0</real><key>list</key><array><real>-0</real></array>
        <key>none</key><integer>0</integer></dict></plist>
        """)
    }
    let store = MemoryPreferenceStore()
    try store.import(from: source)
    #expect(try store.value(Double.self, forKey: "negative")?.sign == .minus)
    #expect(try store.value([Double].self, forKey: "list")?.first?.sign == .minus)
    #expect(store.json(forKey: "none") == "0")
  }

  @Test("what is neither is refused, and changes nothing", arguments: ["hello", "[1]", "{\"a\":1} x", ""])
  func neither(text: String) throws {
    let source = folder.file("source")
    try source.overwrite(text)
    let store = MemoryPreferenceStore()
    let error = try #require(throws: PreferenceError.self) { try store.import(from: source) }
    #expect(error.code == .unreadable)
    #expect(error.description.contains(source.path))
    #expect(throws: PreferenceError.self) { try store.import(from: folder.file("absent")) }
    #expect(store.keys.isEmpty)
  }

  @Test("what is exported can be imported", arguments: StoreKind.allCases)
  func export(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set("x\n\u{0}", forKey: "b \"quoted\"")
    try store.set(Theme(name: "dark", sizes: [1]), forKey: "a")
    let json =
      kind == .memory ? (store as? MemoryPreferenceStore)?.json() : (store as? FilePreferenceStore)?.json()
    #expect(
      json == """
        {
          "b \\"quoted\\"": "x\\n\\u0000",
          "a": {"name":"dark","sizes":[1]}
        }

        """)
    let source = folder.file("exported.json")
    try source.overwrite(json ?? "")
    let other = MemoryPreferenceStore()
    try other.import(from: source)
    #expect(other.json() == json)
    #expect(MemoryPreferenceStore().json() == "{}\n")
  }
}
