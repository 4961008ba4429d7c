// The names are Apple's.
// swift-format-ignore-file

public import Foundation

@MainActor open class NSApplication: NSObject {
  public static let shared = NSApplication()
  public nonisolated static let didResignActiveNotification = NSNotification.Name("NSApplicationDidResignActive")
  public nonisolated static let willBecomeActiveNotification = NSNotification.Name("NSApplicationWillBecomeActive")
}

@MainActor open class NSNib: NSObject {
  public typealias Name = String
  private let name: String
  public init?(nibNamed name: Name, bundle: Bundle?) { self.name = name }
  /// Apple's method takes an `AutoreleasingUnsafeMutablePointer`, which needs Objective-C.
  open func instantiate(withOwner owner: Any?, topLevelObjects: UnsafeMutablePointer<NSArray?>?) -> Bool {
    topLevelObjects?.pointee = NSArray(array: [name])
    return true
  }
}
