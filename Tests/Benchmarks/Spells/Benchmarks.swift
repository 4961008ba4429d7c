import Benchmark

let benchmarks: @Sendable () -> Void = {
  Benchmark.teardown = { TemporaryFolder.remove() }
  compareReading()
  compareMaking()
  compareResolving()
  compareKeys()
  compareManyRegistrations()
  compareTasksAndThreads()
  compareStoring()
  compareLaunching()
}
