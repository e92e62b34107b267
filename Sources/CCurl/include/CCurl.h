// libcurl, loaded when the first address is opened: merely linking it would cost every command
// several MiB. Its own names stay in CCurl.c; here is the little that a sound file over HTTP needs.
#pragma once


#include <stdbool.h>
#include <stddef.h>

/// One request and its response.
typedef struct ccurl_transfer ccurl_transfer;

/// What carries a transfer on, and keeps its connections.
typedef struct ccurl_carrier ccurl_carrier;

/// How a transfer ended.
typedef enum ccurl_outcome {
  ccurl_still_running,
  ccurl_complete,
  /// A callback did not want the response.
  ccurl_unwanted,
  ccurl_no_host,
  ccurl_no_connection,
  ccurl_timed_out,
  ccurl_untrusted,
  ccurl_not_http,
  ccurl_bad_address,
  // The other end closed the connection before all was there.
  ccurl_cut,
  ccurl_broken,
} ccurl_outcome;

/// What a body callback answers.
typedef enum ccurl_reception { ccurl_taken, ccurl_pause, ccurl_refused } ccurl_reception;

/// Called with one header line, or the empty line behind the last; false ends the transfer.
typedef bool (*ccurl_header_callback)(const char *bytes, size_t count, void *context);

/// Called with bytes of the body; those that were answered with a pause come again.
typedef ccurl_reception (*ccurl_body_callback)(const char *bytes, size_t count, void *context);

/// Loads the library; false where there is none. Once, before all else.
bool ccurl_load(void);

/// A GET of `address`; `lines` are `line_count` further lines of its header, `receive_byte_count` is
/// what the kernel may keep of what we have not taken. NULL without memory.
ccurl_transfer *ccurl_transfer_create(
  const char *address, const char *const *lines, int line_count, long connect_milliseconds,
  int receive_byte_count, ccurl_header_callback header, ccurl_body_callback body, void *context);
void ccurl_transfer_destroy(ccurl_transfer *transfer);

/// Goes on after a pause; may call the callbacks.
void ccurl_transfer_resume(ccurl_transfer *transfer);

/// In words, why it did not complete.
const char *ccurl_transfer_reason(const ccurl_transfer *transfer);

ccurl_carrier *ccurl_carrier_create(void);
void ccurl_carrier_destroy(ccurl_carrier *carrier);
int ccurl_carrier_add(ccurl_carrier *carrier, ccurl_transfer *transfer);
void ccurl_carrier_remove(ccurl_carrier *carrier, ccurl_transfer *transfer);

/// Does what can be done without waiting; says how the one transfer ended, once.
ccurl_outcome ccurl_carrier_perform(ccurl_carrier *carrier, ccurl_transfer *transfer);

/// Waits until something can be done, `descriptor` can be read, or the time is over.
void ccurl_carrier_wait(ccurl_carrier *carrier, int descriptor, int milliseconds);

/// A part of an address. The URL without the user's name and password; NULL where it is missing, or
/// `address` is none. The caller frees it.
char *ccurl_address_scheme(const char *address);
char *ccurl_address_path(const char *address);
char *ccurl_address_without_user(const char *address);

/// `reference` as it is meant on the page `base`; NULL where it is no address. The caller frees it.
char *ccurl_address_join(const char *base, const char *reference);
