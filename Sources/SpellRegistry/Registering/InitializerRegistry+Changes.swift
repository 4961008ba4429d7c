internal import Support
internal import Synchronization

// This file contains the changes of a registry's table, and the removal of what the registry keeps.
//
// What leaves the table, and each value that is dropped, is released with no lock held. Values go in the reverse order of
// their creation, so that each of them can still use those that it was made from. While a value is dropped, its registry
// still serves requests of the value's deinitializer.

extension InitializerRegistry {
  /// Withdraws every registration and drops the values that this registry keeps.
  ///
  /// The values are dropped in the reverse order of their creation, while the registrations still serve what the values'
  /// deinitializers ask for. Then all registrations are withdrawn at once. A property that already has a value keeps the
  /// value. The parent's registrations stay, and so do this registry's own hooks, which ``onInjection(_:)`` added.
  public func removeAll() {
    dropKeptValues()
    withdraw { table in
      var removed = RegistrationTable()
      swap(&table, &removed)
      return removed.everything
    }
  }

  /// Adds a registration, which replaces an older registration for exactly the same requests.
  ///
  /// - Parameter others: Returns other registrations that the new one also replaces, in the same change of the table; nil
  ///   if there are none.
  func insert(
    _ record: RegistrationRecord, inPlaceOf others: ((borrowing RegistrationTable) -> [RegistrationRecord])? = nil
  ) {
    prepare(for: record)
    var replaced: SourcePlace?
    withdraw { table in
      let former = table.insert(record)
      replaced = former?.place
      let left = former.map { [$0] } ?? []
      guard let others else { return left }
      return left + others(table).filter { table.remove($0) }
    }
    if let replaced { record.note(replaced: replaced) }
  }

  /// Adds a registration, which hides an older registration for exactly the same requests.
  func hide(behind record: RegistrationRecord) {
    prepare(for: record)
    table.change { $0.hide(behind: record) }
  }

  private func prepare(for record: RegistrationRecord) {
    TaskContext.weakenReferences(to: self)
    if record.container != nil { isForContainers.store(true, ordering: .relaxed) }
  }

  func remove(_ record: RegistrationRecord) { withdraw { $0.remove(record) ? [record] : [] } }

  /// Lets `change` take registrations out of the table, and drops what they keep.
  ///
  /// A registration that has left the table keeps no value that a later request makes. If a value is being made at that
  /// moment, either it is dropped with the others, or it isn't kept at all.
  ///
  /// - Parameter change: Returns the registrations that are no longer in the table.
  func withdraw(_ change: (inout RegistrationTable) -> [RegistrationRecord]) {
    let records = table.change { change(&$0) }
    if records.isEmpty { return }
    var values = takeKeptValues(of: records)
    drop(&values)
    withExtendedLifetime(records) {}
  }

  // MARK: Kept values

  /// Takes the values that registrations keep, so that later requests make new ones.
  ///
  /// - Parameter makingOthers: Whether a value that is being made isn't kept, either.
  /// - Returns: The values, for the caller to drop.
  func takeKeptValues(of records: [RegistrationRecord], makingOthers: Bool = true) -> [DroppedValue] {
    let kept = records.flatMap { record in record.keptValues.map { (record: record, value: $0) } }
    if kept.isEmpty { return [] }
    let values = table.change { table in
      kept.compactMap { $0.value.take(from: $0.record, makingOthers: makingOthers, changing: &table) }
    }
    for record in records { record.factoryValues?.removeVacant(in: self) }
    return values
  }

  /// Takes all values that this registry keeps, except those that are being made.
  @inline(never) private func takeKeptValues() -> [DroppedValue] {
    guard table.read({ $0.hasKeptValues }) else { return [] }
    return takeKeptValues(of: table.read { $0.everything }, makingOthers: false)
  }

  /// Drops all values that this registry keeps, and those that their deinitializers and removal hooks ask for.
  private func dropKeptValues() {
    // Values that make each other again without end are given up after a while.
    for _ in 0..<100 {
      var values = takeKeptValues()
      if values.isEmpty { return }
      drop(&values)
    }
  }

  /// Releases values that this registry kept, the newest first, and leaves the array empty.
  @inline(never) func drop(_ values: inout [DroppedValue]) {
    values.sortByCreation()
    while let value = values.popLast() { drop(value) }
  }

  /// Calls the removal hooks for a value that this registry kept, which the caller then releases.
  func drop(_ value: DroppedValue) { value.record.callRemovalHooks(of: value.cell, in: self) }

  // MARK: The end of a registry

  /// A weak reference to this registry, which objects can share if they must not keep the registry alive.
  var weakReference: RegistryReference {
    madeReference.withLock { reference in
      if let reference { return reference }
      let made = RegistryReference(to: self, isWeak: true)
      reference = made
      return made
    }
  }

  /// Takes the registrations over from a registry that ends.
  func takeRegistrations(of registry: InitializerRegistry) {
    var taken = RegistrationTable()
    registry.table.change { swap(&$0, &taken) }
    table.change { swap(&$0, &taken) }
  }

  /// Drops all kept values of this registry, which ends, and then withdraws all registrations, the newest first.
  ///
  /// The deinitializers of the values, and the hooks for their removal, may ask for other values. Nothing can refer to a
  /// registry any longer while its deinitializer runs, so another registry answers them.
  ///
  /// - Parameter reference: The weak reference that objects share; nil if there are none that could ask this registry.
  func end(_ reference: RegistryReference?) {
    var values = takeKeptValues()
    if reference == nil, !values.contains(where: { $0.record.hasRemovals }) { return drop(&values) }
    InitializerRegistry(inPlaceOf: self, reference).dropEverything(startingWith: &values)
  }

  private func dropEverything(startingWith values: inout [DroppedValue]) {
    drop(&values)
    dropKeptValues()
    var records = table.read { $0.everything }
    while let record = records.popLast() { remove(record) }
    removeAll()
    // After that, objects that refer to this registry weakly find no registry.
    let reference = madeReference.withLock { $0.take() }
    reference?.replaceTarget(with: nil)
  }
}

extension [DroppedValue] {
  @inline(never) mutating func sortByCreation() { if count > 1 { sort { $0.number < $1.number } } }
}
