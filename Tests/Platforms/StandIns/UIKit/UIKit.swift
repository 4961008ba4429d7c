// The names are Apple's.
// swift-format-ignore-file

public import Foundation

@MainActor open class UIApplication: NSObject {
  public static let shared = UIApplication()
  public nonisolated static let didEnterBackgroundNotification = NSNotification.Name("UIApplicationDidEnterBackground")
  public nonisolated static let willEnterForegroundNotification = NSNotification.Name("UIApplicationWillEnterForeground")
}

@MainActor open class UINib: NSObject {
  public struct OptionsKey: Hashable, Sendable {}
  private let name: String
  public init(nibName name: String, bundle: Bundle?) { self.name = name }
  open func instantiate(withOwner owner: Any?, options: [OptionsKey: Any]? = nil) -> [Any] { [name] }
}
