#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension LaunchError: LocalizedError {}
extension LaunchPlanError: LocalizedError {}
extension ConfigurationError: LocalizedError {}
extension SkipInitializer: LocalizedError {}
