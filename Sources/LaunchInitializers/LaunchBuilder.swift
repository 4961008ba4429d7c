internal import SpellRegistry

/// Reads the steps of a ``LaunchSequence`` as they are written, with `if`, `switch` and `for`.
@resultBuilder
public enum LaunchBuilder {
  /// An initializer with nothing said about it is a step too.
  ///
  /// - Parameters:
  ///   - initializer: What the step does.
  ///   - fileID: The file that the step is written in, for messages.
  ///   - line: The line that the step is written in, for messages.
  public static func buildExpression(
    _ initializer: any Initializable, fileID: StaticString = #fileID, line: UInt = #line
  ) -> [LaunchStep] {
    [LaunchStep(initializer, at: SourcePlace(fileID: fileID, line: line))]
  }

  /// A step.
  public static func buildExpression(_ step: LaunchStep) -> [LaunchStep] { [step] }

  /// Steps that were listed elsewhere.
  public static func buildExpression(_ steps: [LaunchStep]) -> [LaunchStep] { steps }

  /// Steps one after the other.
  public static func buildBlock(_ parts: [LaunchStep]...) -> [LaunchStep] { parts.flatMap(\.self) }

  /// The steps of each turn of a `for`.
  public static func buildArray(_ parts: [[LaunchStep]]) -> [LaunchStep] { parts.flatMap(\.self) }

  /// The steps of an `if` without `else`.
  public static func buildOptional(_ part: [LaunchStep]?) -> [LaunchStep] { part ?? [] }

  /// The steps of an `if` that holds.
  public static func buildEither(first part: [LaunchStep]) -> [LaunchStep] { part }

  /// The steps of an `else`.
  public static func buildEither(second part: [LaunchStep]) -> [LaunchStep] { part }

  /// The steps of an `if #available`.
  public static func buildLimitedAvailability(_ part: [LaunchStep]) -> [LaunchStep] { part }
}
