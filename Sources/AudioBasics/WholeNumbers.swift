// Audio thread.

// Conversions from floating-point numbers to whole numbers, defined for every value. The standard
// library's conversions end the program at a value that does not fit, at infinity and at NaN.
// Levels, times and sizes come from audio, files and servers, and can have any value. `Int64` keeps
// the conversion of the standard library, because the two conversions below use it. No other code
// may use it (checked by Scripts/proofs/conversions).

extension Int {
  /// Creates the whole part of `value`, the nearest bound of `Int` if it does not fit, or 0 for not
  /// a number (NaN). Any thread.
  ///
  /// ```swift
  /// precondition(Int(clamping: -1.9) == -1 && Int(clamping: Double.nan) == 0)
  /// precondition(Int(clamping: 1e300) == .max)
  /// ```
  @_noLocks
  @inlinable
  @inline(__always)
  public init(clamping value: Double) {
    if value > -0x1p63 && value < 0x1p63 {
      self = Int(truncatingIfNeeded: Int64(value))
    } else {
      self = value > 0 ? .max : value < 0 ? .min : 0
    }
  }

  /// Creates the whole part of `value`, the nearest bound of `Int` if it does not fit, or 0 for not
  /// a number (NaN). Any thread.
  @_noLocks
  @inlinable
  @inline(__always)
  public init(clamping value: Float) {
    self.init(clamping: Double(value))
  }

  /// Creates the whole number nearest to `value`, with halves rounded away from zero; other values
  /// as `init(clamping:)`. Any thread.
  @_noLocks
  @inlinable
  public init(rounding value: Double) {
    self.init(clamping: value)
    // From 2^52 on there are no fractions. `rounded()` is not proven for the audio thread.
    guard value > -0x1p52, value < 0x1p52 else { return }
    let rest = value - Double(self)
    if rest >= 0.5 { self &+= 1 } else if rest <= -0.5 { self &-= 1 }
  }
}

extension Int {
  /// Returns the sum of both numbers, or the nearest bound of `Int` if it does not fit. Any thread.
  @_noLocks
  @inlinable
  package func clampedSum(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? (other > 0 ? .max : .min) : sum
  }
}

extension UInt64 {
  /// Creates the whole part of `value`, the nearest bound if it does not fit, or 0 for NaN.
  @_noLocks
  @inlinable
  @inline(__always)
  package init(clamping value: Double) {
    if value < 0x1p63 {
      self = UInt64(truncatingIfNeeded: Swift.max(0, Int(clamping: value)))
    } else if value < 0x1p64 {
      self = UInt64(bitPattern: Int64(value - 0x1p63)) | 1 << 63
    } else {
      self = value > 0 ? .max : 0
    }
  }
}

extension FixedWidthInteger {
  /// Creates the whole part of `value`, the nearest bound if it does not fit, or 0 for NaN.
  @inlinable
  @inline(__always)
  package init(clamping value: Double) {
    if value < 0x1p63 {
      self.init(clamping: Int(clamping: value))
    } else {
      self.init(clamping: UInt64(clamping: value))
    }
  }

  /// Creates the whole part of `value`, the nearest bound if it does not fit, or 0 for NaN.
  @inlinable
  @inline(__always)
  package init(clamping value: Float) {
    self.init(clamping: Double(value))
  }

  /// Creates the whole number nearest to `value`, with halves rounded away from zero; other values
  /// as `init(clamping:)`.
  @inlinable
  package init(rounding value: Double) {
    self.init(clamping: value.rounded())
  }
}

// These declarations hide the conversions of the standard library: a declaration of a module has
// precedence over one of the standard library. They are deprecated, and a deprecation warning is an
// error in this package, so the compiler refuses their use.

extension Int {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension Int32 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension Int16 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension Int8 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension UInt {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension UInt64 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension UInt32 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension UInt16 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}

extension UInt8 {
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Double) { self.init(clamping: value) }
  @available(*, deprecated, message: "Stops the program. Use init(clamping:).")
  package init(_ value: Float) { self.init(clamping: value) }
}
