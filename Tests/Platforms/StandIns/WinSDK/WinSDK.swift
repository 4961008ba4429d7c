// The names are Microsoft's.
// swift-format-ignore-file

// The functions of Windows that Spellbook calls, for compiling but not for running.

public typealias DWORD = UInt32
public typealias ULONG = UInt32
public typealias ULONG_PTR = UInt64
public typealias PVOID = UnsafeMutableRawPointer
public typealias PFLS_CALLBACK_FUNCTION = @convention(c) (PVOID?) -> Void
public let INFINITE: DWORD = .max

public struct _RTL_SRWLOCK { public init() {} }
public typealias SRWLOCK = _RTL_SRWLOCK
public typealias PSRWLOCK = UnsafeMutablePointer<SRWLOCK>
public struct _RTL_CONDITION_VARIABLE { public init() {} }
public typealias CONDITION_VARIABLE = _RTL_CONDITION_VARIABLE
public typealias PCONDITION_VARIABLE = UnsafeMutablePointer<CONDITION_VARIABLE>

public func FlsAlloc(_ callback: PFLS_CALLBACK_FUNCTION!) -> DWORD { fatalError() }
public func FlsGetValue(_ index: DWORD) -> PVOID! { fatalError() }
public func FlsSetValue(_ index: DWORD, _ value: PVOID!) -> Bool { fatalError() }
public func GetLastError() -> DWORD { fatalError() }
public func GetCurrentThreadId() -> DWORD { fatalError() }
public func GetCurrentThreadStackLimits(_ low: UnsafeMutablePointer<ULONG_PTR>!, _ high: UnsafeMutablePointer<ULONG_PTR>!) { fatalError() }
public func InitializeSRWLock(_ lock: PSRWLOCK!) { fatalError() }
public func AcquireSRWLockExclusive(_ lock: PSRWLOCK!) { fatalError() }
public func ReleaseSRWLockExclusive(_ lock: PSRWLOCK!) { fatalError() }
public func InitializeConditionVariable(_ condition: PCONDITION_VARIABLE!) { fatalError() }
public func SleepConditionVariableSRW(_ condition: PCONDITION_VARIABLE!, _ lock: PSRWLOCK!, _ milliseconds: DWORD, _ flags: ULONG) -> Bool { fatalError() }
public func WakeAllConditionVariable(_ condition: PCONDITION_VARIABLE!) { fatalError() }
public func SwitchToThread() -> Bool { fatalError() }
public func Sleep(_ milliseconds: DWORD) { fatalError() }
