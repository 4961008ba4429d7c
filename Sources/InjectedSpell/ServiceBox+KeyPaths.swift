extension ServiceBox {
  /// Assigns the services with these names to an object's properties, without wrappers and reflection.
  ///
  /// ```swift
  /// box.fill(controller, ("analytics", \.analytics), ("backup", \.storage))
  /// ```
  ///
  /// The compiler checks the key paths, which can refer to any settable property. A property of an Optional type takes
  /// a service of its wrapped type.
  ///
  /// - Returns: The names whose services were assigned, those without a service, and those whose service has another
  ///   type.
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
