import Glibc
import LinuxSystem
import Testing

/// Tests with the files of this machine. Those of other machines: SystemDiagnosisTests.
@Suite struct SystemFilesTests {
  private let files = SystemFiles.ofThisMachine

  @Test func `a file of the kernel is read though it states a size of 0`() {
    #expect(files.value(of: "Pid", in: "/proc/self/status") == "\(getpid())")
    #expect(files.text("/proc/self/status", limit: 5) == "Name:")
    #expect(files.line("/proc/self/status")?.hasPrefix("Name:\t") == true)
    #expect(files.value(of: "NoSuchKey", in: "/proc/self/status") == nil)
  }

  @Test(arguments: ["/proc", "/dev/null", "/proc/no-such-file"])
  func `a folder, a device and what is not there have no text`(path: String) {
    #expect(files.text(path) == nil)
    #expect(files.line(path) == nil)
  }

  @Test func `names and paths are found in order`() {
    #expect(files.names(in: "/proc").contains("\(getpid())"))
    #expect(!files.names(in: "/proc").contains(".."))
    #expect(files.names(in: "/proc/no-such-folder").isEmpty)
    #expect(files.paths(matching: "/proc/[m]em*info") == ["/proc/meminfo"])
    #expect(files.paths(matching: "/proc/no-such-*").isEmpty)
    #expect(files.resolved("/proc/self") == "/proc/\(getpid())")
  }
}
