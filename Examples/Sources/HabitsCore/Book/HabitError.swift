/// An error for a command that can't be carried out on the habits.
package enum HabitError: Error, Equatable, CustomStringConvertible {
  case unknown(String, nearest: String?)
  case exists(String)
  case unusableName(String)

  package var description: String {
    switch self {
    case .unknown(let name, let nearest?): "No habit is called \"\(name)\". The nearest is \"\(nearest)\"."
    case .unknown(let name, nil):
      "No habit is called \"\(name)\", and there is none yet. Add it: Habits add \"\(name)\""
    case .exists(let name): "There is a habit called \"\(name)\" already."
    case .unusableName(let name):
      "A name is one line with something to read in it, which \(name.debugDescription) is not."
    }
  }
}
