// The names are Apple's.
// swift-format-ignore-file

// The part of Foundation that exists only on Apple platforms. The copy of the sources imports it wherever it imports
// Foundation.

public import Foundation

extension URL {
  public static var applicationSupportDirectory: URL { home.appending(path: "Library/Application Support") }
  public static var cachesDirectory: URL { home.appending(path: "Library/Caches") }

  private static var home: URL {
    URL(filePath: ProcessInfo.processInfo.environment["STAND_IN_HOME"] ?? NSTemporaryDirectory())
  }
}
