/// The environment variables that name the certificates to trust, as curl(1) uses them: a bundle in
/// CURL_CA_BUNDLE, or a bundle in SSL_CERT_FILE and a folder in SSL_CERT_DIR. They replace the
/// certificates of the system. libcurl does not read them.
struct CertificateVariables: Equatable {
  /// The variable that names a file of certificates; nil if none does.
  let file: String?
  /// The variable that names a folder of certificates; nil if none does.
  let folder: String?

  /// The variables that are set in the environment of this process.
  static var current: CertificateVariables { CertificateVariables(FileName.variable) }

  /// Finds the variables. `value` returns the value of a variable.
  init(_ value: (String) -> String?) {
    func isSet(_ name: String) -> Bool { value(name)?.isEmpty == false }
    if isSet("CURL_CA_BUNDLE") {
      (file, folder) = ("CURL_CA_BUNDLE", nil)
    } else {
      file = isSet("SSL_CERT_FILE") ? "SSL_CERT_FILE" : nil
      folder = isSet("SSL_CERT_DIR") ? "SSL_CERT_DIR" : nil
    }
  }

  /// The place of the certificates that the variables name, in words; nil if none is set.
  var place: String? {
    let names = [file, folder].compactMap(\.self)
    return names.isEmpty ? nil : names.joined(separator: " and ")
  }
}
