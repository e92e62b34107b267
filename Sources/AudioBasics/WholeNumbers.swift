// Audio thread.

// Whole numbers from floating-point ones, for every value there is. The standard library's
// conversions stop the program at a value that does not fit, infinity or a number that is none, and
// levels, times and sizes come from sound, files and servers. Int64 stays as it is, for the two
// conversions that are made of it: nothing else may use it so (Scripts/proofs/conversions).

extension Int {
  /// The whole part of `value`: the nearest end where it does not fit, 0 where it is not a number.
  /// Any thread.
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

  /// The whole part of `value`: the nearest end where it does not fit, 0 where it is not a number.
  /// Any thread.
  @_noLocks
  @inlinable
  @inline(__always)
  public init(clamping value: Float) {
    self.init(clamping: Double(value))
  }

  /// The whole number nearest to `value`, halves away from zero; otherwise as `init(clamping:)`.
  /// Any thread.
  @_noLocks
  @inlinable
  public init(rounding value: Double) {
    self.init(clamping: value)
    // From there on there are no fractions. `rounded()` is not proven for the audio thread.
    guard value > -0x1p52, value < 0x1p52 else { return }
    let rest = value - Double(self)
    if rest >= 0.5 { self &+= 1 } else if rest <= -0.5 { self &-= 1 }
  }
}

extension UInt64 {
  /// The whole part of `value`: the nearest end where it does not fit, 0 where it is not a number.
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
  /// The whole part of `value`: the nearest end where it does not fit, 0 where it is not a number.
  @inlinable
  @inline(__always)
  package init(clamping value: Double) {
    if value < 0x1p63 {
      self.init(clamping: Int(clamping: value))
    } else {
      self.init(clamping: UInt64(clamping: value))
    }
  }

  /// The whole part of `value`: the nearest end where it does not fit, 0 where it is not a number.
  @inlinable
  @inline(__always)
  package init(clamping value: Float) {
    self.init(clamping: Double(value))
  }

  /// The whole number nearest to `value`, halves away from zero; otherwise as `init(clamping:)`.
  @inlinable
  package init(rounding value: Double) {
    self.init(clamping: value.rounded())
  }
}

// The conversions of the standard library, hidden by ones that the compiler refuses: a declaration
// of a module goes before the standard library's, and deprecation is a warning, and so an error.

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
