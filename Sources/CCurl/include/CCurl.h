// libcurl, loaded when the first address is opened: linking it would cost every command several
// MiB. Its identifiers are used in CCurl.c only; this header declares the few functions that an
// audio file over HTTP needs.
#pragma once


#include <stdbool.h>
#include <stddef.h>

/// A request and its response.
typedef struct ccurl_transfer ccurl_transfer;

/// The object that performs a transfer and keeps its connections open.
typedef struct ccurl_multi ccurl_multi;

/// The outcome of a transfer.
typedef enum ccurl_outcome {
  ccurl_still_running,
  ccurl_complete,
  /// A callback refused the response.
  ccurl_aborted,
  ccurl_no_host,
  ccurl_no_proxy,
  /// The proxy answered to CONNECT with a status other than 200 to 299; see
  /// `ccurl_transfer_proxy_status`.
  ccurl_proxy_refused,
  /// The SOCKS proxy cannot reach the server.
  ccurl_socks_unreachable,
  /// The SOCKS proxy requires another user name or password.
  ccurl_socks_user_rejected,
  /// The SOCKS proxy refuses the request, or is none.
  ccurl_socks_refused,
  /// The SOCKS proxy closed the connection.
  ccurl_socks_closed,
  ccurl_no_connection,
  ccurl_timed_out,
  ccurl_untrusted,
  ccurl_not_http,
  ccurl_bad_address,
  /// The server and this machine have no version of TLS or no cipher in common.
  ccurl_no_encryption,
  /// A line of the header is longer than libcurl accepts.
  ccurl_header_too_long,
  // The server closed the connection before the response was complete.
  ccurl_connection_closed,
  ccurl_broken,
} ccurl_outcome;

/// The result of a body callback.
typedef enum ccurl_reception { ccurl_taken, ccurl_pause, ccurl_refused } ccurl_reception;

/// Called with one header line, or with the empty line after the last one; returns false to end the
/// transfer.
typedef bool (*ccurl_header_callback)(const char *bytes, size_t count, void *context);

/// Called with bytes of the body. After a pause, it is called with the same bytes again.
typedef ccurl_reception (*ccurl_body_callback)(const char *bytes, size_t count, void *context);

/// Loads the library; returns false if it is missing. Call it once, before all other functions.
bool ccurl_load(void);

/// Creates a GET request for `address`. `lines` are `line_count` additional header lines, and
/// `receive_byte_count` is the size of the kernel's receive buffer. Returns NULL if memory is
/// short.
ccurl_transfer *ccurl_transfer_create(
  const char *address, const char *const *lines, int line_count, long connect_milliseconds,
  int receive_byte_count, ccurl_header_callback header, ccurl_body_callback body, void *context);
void ccurl_transfer_destroy(ccurl_transfer *transfer);

/// Trusts the certificates in the file and in the folder that two environment variables name, of
/// the server and of an encrypted proxy; NULL for the certificates of the system.
void ccurl_transfer_trust(
  ccurl_transfer *transfer, const char *file_variable, const char *folder_variable);

/// Continues after a pause; may call the callbacks.
void ccurl_transfer_resume(ccurl_transfer *transfer);

/// Returns a text that explains why the transfer did not complete.
const char *ccurl_transfer_reason(const ccurl_transfer *transfer);

/// Returns the last HTTP status with which a proxy answered to the request for a connection; 0 if
/// there was none.
long ccurl_transfer_proxy_status(const ccurl_transfer *transfer);

ccurl_multi *ccurl_multi_create(void);
void ccurl_multi_destroy(ccurl_multi *multi);
int ccurl_multi_add(ccurl_multi *multi, ccurl_transfer *transfer);
void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer);

/// Performs all work that is possible without waiting. Returns the outcome of the transfer once,
/// after its end, and `ccurl_still_running` otherwise.
ccurl_outcome ccurl_multi_perform(ccurl_multi *multi, ccurl_transfer *transfer);

/// Waits until there is work to perform, `descriptor` is readable, or the timeout expires.
void ccurl_multi_wait(ccurl_multi *multi, int descriptor, int milliseconds);

/// Return a part of an address: its scheme, its path, or the URL without the user's name and
/// password. NULL if the part is missing, or if `address` is not a URL. The caller frees the
/// result.
char *ccurl_address_scheme(const char *address);
char *ccurl_address_path(const char *address);
char *ccurl_address_without_user(const char *address);

/// Resolves `reference` against the URL `base`. Returns NULL if it is not an address. The caller
/// frees the result.
char *ccurl_address_join(const char *base, const char *reference);
