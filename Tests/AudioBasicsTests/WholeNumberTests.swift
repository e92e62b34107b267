import AudioBasics
import Testing

@Suite("Conversion of floating-point numbers to integers")
struct WholeNumberTests {
  @Test(
    arguments: [
      (0, 0), (1.9, 1), (-1.9, -1), (0x1p53, 1 << 53), (.nan, 0), (-.nan, 0),
      (.infinity, .max), (-.infinity, .min), (1e300, .max), (-1e300, .min), (0x1p63, .max),
      (-0x1p63, .min), (0x1.fffffffffffffp62, 0x7FFF_FFFF_FFFF_FC00),
    ] as [(Double, Int)])
  func `values out of range are limited to the range, and NaN becomes 0`(
    value: Double, whole: Int
  ) {
    #expect(Int(clamping: value) == whole)
    #expect(Int(clamping: Float(value)) == Int(clamping: Double(Float(value))))
  }

  @Test func `values are limited to the range of each integer type`() {
    #expect(UInt64(clamping: 0x1p63) == 1 << 63)
    #expect(UInt64(clamping: 0x1p64) == .max)
    #expect(UInt64(clamping: -0.5) == 0)
    #expect(UInt64(clamping: -3.0) == 0)
    #expect(UInt64(clamping: Double.nan) == 0)
    #expect(Int32(clamping: 3e19) == .max)
    #expect(Int32(clamping: -Double.infinity) == .min)
    #expect(UInt8(clamping: 256.0) == 255)
    #expect(UInt8(clamping: Float.nan) == 0)
    #expect(Int16(rounding: -32768.5) == .min)
  }

  @Test func `halves are rounded away from zero`() {
    #expect(Int(rounding: 0.5) == 1)
    #expect(Int(rounding: -0.5) == -1)
    #expect(Int(rounding: 0.49999999999999994) == 0)
    #expect(Int(rounding: .nan) == 0)
    #expect(Int(rounding: .infinity) == .max)
  }

  @Test func `a sum that does not fit is the nearest integer`() {
    #expect(2.clampedSum(3) == 5 && 2.clampedSum(-3) == -1)
    #expect(Int.max.clampedSum(1) == .max && 1.clampedSum(.max) == .max)
    #expect(Int.min.clampedSum(-1) == .min && (-1).clampedSum(.min) == .min)
    #expect(Int.max.clampedSum(.min) == -1)
  }
}
