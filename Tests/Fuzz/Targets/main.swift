// The program of Scripts/fuzz: `Fuzz list` prints the names of the targets, `Fuzz TARGET WORD...`
// passes the words to libFuzzer (https://llvm.org/docs/LibFuzzer.html), which runs that target.

import CFuzzer
import Glibc

let arguments = CommandLine.arguments
if arguments.dropFirst() == ["list"] {
  for target in FuzzTarget.all { print(target.name) }
  exit(0)
}
guard arguments.count > 1, let target = FuzzTarget.all.first(where: { $0.name == arguments[1] })
else {
  print("fuzz: name a target: " + FuzzTarget.all.map(\.name).joined(separator: ", "))
  exit(64)
}
let chosen = target

func tryInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  var input = FuzzInput(UnsafeBufferPointer(start: bytes, count: count))
  chosen.run(&input)
  return 0
}

// A later argument overrides an earlier one.
let words = ["fuzz \(target.name)", "-max_len=\(target.maximumLength)"] + arguments.dropFirst(2)
var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
var count = Int32(words.count)
pointers.withUnsafeMutableBufferPointer { pointers in
  var start = pointers.baseAddress
  exit(LLVMFuzzerRunDriver(&count, &start, { tryInput($0, $1) }))
}
