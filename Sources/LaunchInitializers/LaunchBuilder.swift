/// A result builder that lists the steps of a ``LaunchSequence`` or ``LaunchGroup``.
///
/// The list may contain `if`, `switch` and `for`.
@resultBuilder
public enum LaunchBuilder {
  /// Adds an initializer, a step or a group to the list.
  public static func buildExpression(_ step: any LaunchStepConvertible) -> [LaunchStep] { [step.launchStep] }
  /// Adds the steps of an array to the list.
  public static func buildExpression(_ steps: [LaunchStep]) -> [LaunchStep] { steps }
  /// Combines the parts of a list in order.
  public static func buildBlock(_ parts: [LaunchStep]...) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Combines the steps of all iterations of a `for` loop.
  public static func buildArray(_ parts: [[LaunchStep]]) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Adds the steps of an `if` without `else`, or nothing if its condition is false.
  public static func buildOptional(_ part: [LaunchStep]?) -> [LaunchStep] { part ?? [] }
  /// Adds the steps of an `if` branch or a `switch` case.
  public static func buildEither(first part: [LaunchStep]) -> [LaunchStep] { part }
  /// Adds the steps of an `else` branch or a `switch` case.
  public static func buildEither(second part: [LaunchStep]) -> [LaunchStep] { part }
  /// Adds the steps of an `if #available` branch.
  public static func buildLimitedAvailability(_ part: [LaunchStep]) -> [LaunchStep] { part }
}
