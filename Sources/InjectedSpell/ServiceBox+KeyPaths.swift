extension ServiceBox {
  /// Gives an object's properties the services of these names, with no wrapper and no reflection.
  ///
  /// ```swift
  /// box.fill(controller, ("analytics", \.analytics), ("backup", \.storage))
  /// ```
  ///
  /// The compiler checks the properties, which may be of any kind that can be set. A property of an Optional type takes a
  /// service of its wrapped type.
  ///
  /// - Returns: The names whose services were set, which the box does not have, and which are of another type.
  @discardableResult
  public func fill<Target: AnyObject, each Service>(
    _ target: Target, _ properties: repeat (String, ReferenceWritableKeyPath<Target, each Service>)
  ) -> FillReport {
    var report = FillReport()
    for (name, path) in repeat each properties {
      set(path, of: target, to: name, report: &report)
    }
    return report
  }

  private func set<Target: AnyObject, Service>(
    _ path: ReferenceWritableKeyPath<Target, Service>, of target: Target, to name: String, report: inout FillReport
  ) {
    guard let service = service(named: name) else { return report.missing.append(name) }
    guard let fitting = service as? Service else { return report.mismatched.append(name) }
    target[keyPath: path] = fitting
    report.filled.append(name)
  }
}
