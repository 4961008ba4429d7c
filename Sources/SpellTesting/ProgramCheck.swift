// A test that imports SpellTesting can check the whole program.
@_exported public import ProgramCheck
