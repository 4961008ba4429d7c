// One import for every module but the test support.

@_exported public import FinalSpell
@_exported public import InjectedSpell
@_exported public import LaunchInitializers
@_exported public import LazySpell
@_exported public import PartialSpell
@_exported public import PreferenceSpell
@_exported public import PreferenceStorage
@_exported public import SpellRegistry
@_exported public import StandardKeys
