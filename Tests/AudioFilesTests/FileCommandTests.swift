import Foundation
import Glibc
import TemporaryFolders
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

  @Test func `a command that is left continues, and does not remain after its end`() throws {
    let files = TemporaryFolder()
    let path = files.path + "/left"
    do {
      var command = try FileCommand(
        "echo $$ >\"$1.new\"; mv \"$1.new\" \"$1\"; while [ -e \"$1\" ]; do sleep 0.01; done",
        for: path, keepsOutput: false)
      while access(path, F_OK) != 0 { usleep(1000) }
      #expect(try !command.isDone())
    }
    let process = try String(contentsOfFile: path, encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    let entry = "/proc/\(process)"
    #expect(access(entry, F_OK) == 0)
    unlink(path)
    // A process whose end nobody waited for would have this entry until the end of the program.
    for _ in 0..<20_000 where access(entry, F_OK) == 0 { usleep(1000) }
    #expect(access(entry, F_OK) != 0)
  }
}
