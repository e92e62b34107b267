import CCurl

/// libcurl, in memory from the first address on.
enum CurlLibrary {
  private static let isLoaded = ccurl_load()

  /// Loads it the first time. Throws `.cannotOpen` where it is not installed.
  static func load() throws(FileFailure) {
    guard isLoaded else {
      throw FileFailure(
        .cannotOpen, "Sound cannot be fetched from the network: there is no libcurl.",
        hint: "Install it: sudo apt install libcurl4")
    }
  }
}
