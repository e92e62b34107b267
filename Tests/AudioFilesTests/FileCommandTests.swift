import Glibc
import Testing

@testable import AudioFiles

/// Tests of commands that run for files.
@Suite struct FileCommandTests {
  /// Returns all lines that a command printed, and its failure.
  private func run(_ script: String, keepsOutput: Bool = true) throws -> (
    lines: [String], failure: FileFailure?
  ) {
    var command = try FileCommand(script, for: "a file", keepsOutput: keepsOutput)
    var lines: [String] = []
    do throws(FileFailure) {
      while try !command.isDone() {
        lines += command.takeLines(isLast: false)
        usleep(1000)
      }
    } catch {
      return (lines + command.takeLines(isLast: true), error)
    }
    return (lines + command.takeLines(isLast: true), nil)
  }

  @Test func `the output of a command is kept line by line, from both streams`() throws {
    let (lines, failure) = try run(
      "printf 'one\\n\\n10 %%\\r20 %%\\rdone with %s\\nno end' \"$1\"; echo ' but one' >&2")
    #expect(failure == nil)
    #expect(lines == ["one", "done with a file", "no end but one"])
  }

  @Test func `the length of a line and the number of lines are limited`() throws {
    let (lines, failure) = try run(
      ": $1; head -c 300000 /dev/zero | tr '\\0' x; echo; yes | head -n 1000000; echo the end"
    )
    #expect(failure == nil)
    #expect(
      lines.count > 1 && lines.allSatisfy { $0.utf8.count <= 1000 } && lines.last == "the end")
  }

  @Test func `a command may print after a pause, and its exit status is reported`() throws {
    let (lines, failure) = try run(": $1; sleep 0.05; echo late; exit 3")
    #expect(lines == ["late"])
    #expect(failure?.message.contains("status 3") == true)
    #expect(try run(": $1; true", keepsOutput: false).lines.isEmpty)
  }
}
