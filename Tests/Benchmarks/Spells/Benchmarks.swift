import Benchmark

let benchmarks: @Sendable () -> Void = {
  Benchmark.teardown = { TemporaryFolder.remove() }
  compareReading()
  compareMaking()
  compareResolving()
  compareManyRegistrations()
  compareTasksAndThreads()
  compareStoring()
  compareLaunching()
}
