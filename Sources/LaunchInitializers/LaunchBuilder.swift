/// Builds the steps of a ``LaunchSequence`` or a ``LaunchGroup`` from a list with `if`, `switch` and `for`.
@resultBuilder
public enum LaunchBuilder {
  /// Lists an initializer, a step or a group.
  public static func buildExpression(_ step: any LaunchStepConvertible) -> [LaunchStep] { [step.launchStep] }
  /// Lists steps that an array holds.
  public static func buildExpression(_ steps: [LaunchStep]) -> [LaunchStep] { steps }
  /// Lists steps one after the other.
  public static func buildBlock(_ parts: [LaunchStep]...) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Lists the steps of each pass of a `for`.
  public static func buildArray(_ parts: [[LaunchStep]]) -> [LaunchStep] { parts.flatMap(\.self) }
  /// Lists the steps of an `if` without `else`.
  public static func buildOptional(_ part: [LaunchStep]?) -> [LaunchStep] { part ?? [] }
  /// Lists the steps of an `if`.
  public static func buildEither(first part: [LaunchStep]) -> [LaunchStep] { part }
  /// Lists the steps of an `else`.
  public static func buildEither(second part: [LaunchStep]) -> [LaunchStep] { part }
  /// Lists the steps of an `if #available`.
  public static func buildLimitedAvailability(_ part: [LaunchStep]) -> [LaunchStep] { part }
}
