// Foundation's value types start empty too. They conform here, since the core does not import Foundation.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import SpellRegistry

extension Data: DefaultInitializable {}
extension Date: DefaultInitializable {}
extension Decimal: DefaultInitializable {}
extension AttributedString: DefaultInitializable {}
extension IndexPath: DefaultInitializable {}
extension UUID: DefaultInitializable {}
