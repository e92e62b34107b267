#include "CCurl.h"

#include <CLibraryLoading.h>
#include <curl/curl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// This option and this code are newer than the oldest supported header.
enum { option_quick_exit = CURLOPTTYPE_LONG + 322 };
enum { code_too_large = 100 };

static struct {
  __typeof__(&curl_global_init) global_init;
  // The header defines these functions as macros with argument checks, so their types are
  // declared here.
  CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
  __typeof__(&curl_easy_init) easy_init;
  __typeof__(&curl_easy_cleanup) easy_cleanup;
  __typeof__(&curl_easy_pause) easy_pause;
  __typeof__(&curl_easy_strerror) easy_strerror;
  __typeof__(&curl_slist_append) slist_append;
  __typeof__(&curl_slist_free_all) slist_free_all;
  __typeof__(&curl_multi_init) multi_init;
  __typeof__(&curl_multi_cleanup) multi_cleanup;
  __typeof__(&curl_multi_add_handle) multi_add_handle;
  __typeof__(&curl_multi_remove_handle) multi_remove_handle;
  __typeof__(&curl_multi_perform) multi_perform;
  __typeof__(&curl_multi_poll) multi_poll;
  __typeof__(&curl_multi_info_read) multi_info_read;
  __typeof__(&curl_url) url;
  __typeof__(&curl_url_set) url_set;
  __typeof__(&curl_url_get) url_get;
  __typeof__(&curl_url_cleanup) url_cleanup;
  __typeof__(&curl_free) free;
} lib;

struct ccurl_transfer {
  CURL *easy;
  struct curl_slist *lines;
  struct curl_slist *aliases;
  ccurl_header_callback header;
  ccurl_body_callback body;
  void *context;
  int receive_byte_count;
  // The locale in which the transfer runs; 0 for that of the thread.
  locale_t locale;
  CURLcode code;
  char reason[CURL_ERROR_SIZE];
};

struct ccurl_multi {
  CURLM *multi;
};

bool ccurl_load(void) {
  const char *const names[] = {
    "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4", NULL};
  const struct library_function functions[] = {
    {"curl_global_init", &lib.global_init},
    {"curl_easy_setopt", &lib.easy_setopt},
    {"curl_easy_getinfo", &lib.easy_getinfo},
    {"curl_easy_init", &lib.easy_init},
    {"curl_easy_cleanup", &lib.easy_cleanup},
    {"curl_easy_pause", &lib.easy_pause},
    {"curl_easy_strerror", &lib.easy_strerror},
    {"curl_slist_append", &lib.slist_append},
    {"curl_slist_free_all", &lib.slist_free_all},
    {"curl_multi_init", &lib.multi_init},
    {"curl_multi_cleanup", &lib.multi_cleanup},
    {"curl_multi_add_handle", &lib.multi_add_handle},
    {"curl_multi_remove_handle", &lib.multi_remove_handle},
    {"curl_multi_perform", &lib.multi_perform},
    {"curl_multi_poll", &lib.multi_poll},
    {"curl_multi_info_read", &lib.multi_info_read},
    {"curl_url", &lib.url},
    {"curl_url_set", &lib.url_set},
    {"curl_url_get", &lib.url_get},
    {"curl_url_cleanup", &lib.url_cleanup},
    {"curl_free", &lib.free},
    {NULL, NULL},
  };
  return library_load(names, functions) && lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
  const ccurl_transfer *transfer = context;
  return transfer->header(bytes, size * count, transfer->context) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
  const ccurl_transfer *transfer = context;
  switch (transfer->body(bytes, size * count, transfer->context)) {
    case ccurl_taken: return size * count;
    case ccurl_pause: return CURL_WRITEFUNC_PAUSE;
    default: return 0;
  }
}

// Sets a small kernel buffer, so that a server cannot send much data that is never played.
static int prepare_socket(void *context, curl_socket_t socket, curlsocktype purpose) {
  const ccurl_transfer *transfer = context;
  (void)purpose;
  setsockopt(
    socket, SOL_SOCKET, SO_RCVBUF, &transfer->receive_byte_count, sizeof(int));
  return CURL_SOCKOPT_OK;
}

// Returns a locale of UTF-8 if the host of `address` has percent-encoded letters beyond ASCII, and
// otherwise 0. libcurl converts such names from the character set of the locale.
static locale_t locale_for(const char *address) {
  const char *host = strstr(address, "://");
  host = host ? host + 3 : address;
  const bool is_encoded = memchr(host, '%', strcspn(host, "/?#")) != NULL;
  return is_encoded ? newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0) : (locale_t)0;
}

ccurl_transfer *ccurl_transfer_create(
  const char *address, const char *const *lines, int line_count, long connect_milliseconds,
  int receive_byte_count, ccurl_header_callback header, ccurl_body_callback body, void *context) {
  ccurl_transfer *transfer = calloc(1, sizeof *transfer);
  if (!transfer) return NULL;
  CURL *easy = transfer->easy = lib.easy_init();
  transfer->header = header;
  transfer->body = body;
  transfer->context = context;
  transfer->receive_byte_count = receive_byte_count;
  transfer->locale = locale_for(address);
  bool is_complete = easy != NULL;
  for (int index = 0; is_complete && index < line_count; index++) {
    struct curl_slist *longer = lib.slist_append(transfer->lines, lines[index]);
    if (longer) transfer->lines = longer;
    is_complete = longer != NULL;
  }
  // Old radio servers send this instead of HTTP.
  transfer->aliases = lib.slist_append(NULL, "ICY ");
  if (!is_complete || !transfer->aliases ||
      lib.easy_setopt(easy, CURLOPT_URL, address) != CURLE_OK) {
    ccurl_transfer_destroy(transfer);
    return NULL;
  }
  lib.easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->lines);
  lib.easy_setopt(easy, CURLOPT_HTTP200ALIASES, transfer->aliases);
  lib.easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  lib.easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
  lib.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  lib.easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  lib.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, prepare_socket);
  lib.easy_setopt(easy, CURLOPT_SOCKOPTDATA, transfer);
  lib.easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason);
  lib.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_milliseconds);
  lib.easy_setopt(easy, CURLOPT_USERAGENT, "duplex");
  // Redirects are followed by the caller, which checks them.
  lib.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  lib.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // With HTTP/2, megabytes would be received while a transfer pauses.
  lib.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  // Older versions do not have this option, and wait for a pending name lookup.
  lib.easy_setopt(easy, (CURLoption)option_quick_exit, 1L);
  return transfer;
}

void ccurl_transfer_trust(
  ccurl_transfer *transfer, const char *file_variable, const char *folder_variable) {
  const char *file = file_variable ? getenv(file_variable) : NULL;
  const char *folder = folder_variable ? getenv(folder_variable) : NULL;
  if (file) {
    lib.easy_setopt(transfer->easy, CURLOPT_CAINFO, file);
    lib.easy_setopt(transfer->easy, CURLOPT_PROXY_CAINFO, file);
  }
  if (folder) {
    lib.easy_setopt(transfer->easy, CURLOPT_CAPATH, folder);
    lib.easy_setopt(transfer->easy, CURLOPT_PROXY_CAPATH, folder);
  }
}

void ccurl_transfer_destroy(ccurl_transfer *transfer) {
  if (transfer->easy) lib.easy_cleanup(transfer->easy);
  lib.slist_free_all(transfer->lines);
  lib.slist_free_all(transfer->aliases);
  if (transfer->locale) freelocale(transfer->locale);
  free(transfer);
}

void ccurl_transfer_resume(ccurl_transfer *transfer) {
  lib.easy_pause(transfer->easy, CURLPAUSE_CONT);
}

const char *ccurl_transfer_reason(const ccurl_transfer *transfer) {
  return transfer->reason[0] ? transfer->reason : lib.easy_strerror(transfer->code);
}

long ccurl_transfer_proxy_status(const ccurl_transfer *transfer) {
  long status = 0;
  lib.easy_getinfo(transfer->easy, CURLINFO_HTTP_CONNECTCODE, &status);
  return status;
}

ccurl_multi *ccurl_multi_create(void) {
  ccurl_multi *multi = calloc(1, sizeof *multi);
  if (multi) multi->multi = lib.multi_init();
  if (multi && !multi->multi) {
    free(multi);
    multi = NULL;
  }
  return multi;
}

void ccurl_multi_destroy(ccurl_multi *multi) {
  lib.multi_cleanup(multi->multi);
  free(multi);
}

int ccurl_multi_add(ccurl_multi *multi, ccurl_transfer *transfer) {
  return lib.multi_add_handle(multi->multi, transfer->easy) == CURLM_OK;
}

void ccurl_multi_remove(ccurl_multi *multi, ccurl_transfer *transfer) {
  lib.multi_remove_handle(multi->multi, transfer->easy);
}

// Returns the outcome of a transfer that a SOCKS proxy refused.
static ccurl_outcome socks_outcome(const ccurl_transfer *transfer) {
  long error = 0;
  lib.easy_getinfo(transfer->easy, CURLINFO_PROXY_ERROR, &error);
  switch (error) {
    case CURLPX_RESOLVE_HOST: return ccurl_no_host;
    // Proxies report names without an address as a general failure (RFC 1928, 6).
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE:
    case CURLPX_REPLY_CONNECTION_REFUSED:
    case CURLPX_REPLY_HOST_UNREACHABLE:
    case CURLPX_REPLY_NETWORK_UNREACHABLE:
    case CURLPX_REPLY_TTL_EXPIRED:
    case CURLPX_REQUEST_FAILED: return ccurl_socks_unreachable;
    case CURLPX_NO_AUTH:
    case CURLPX_IDENTD_DIFFER:
    case CURLPX_USER_REJECTED: return ccurl_socks_user_rejected;
    case CURLPX_CLOSED:
    case CURLPX_RECV_ADDRESS:
    case CURLPX_RECV_AUTH:
    case CURLPX_RECV_CONNECT:
    case CURLPX_RECV_REQACK:
    case CURLPX_SEND_AUTH:
    case CURLPX_SEND_CONNECT:
    case CURLPX_SEND_REQUEST: return ccurl_socks_closed;
    default: return ccurl_socks_refused;
  }
}

static ccurl_outcome outcome(const ccurl_transfer *transfer) {
  const long proxy_status = ccurl_transfer_proxy_status(transfer);
  if (transfer->code != CURLE_OK && proxy_status && proxy_status / 100 != 2) {
    return ccurl_proxy_refused;
  }
  switch (transfer->code) {
    case CURLE_OK: return ccurl_complete;
    case CURLE_WRITE_ERROR: return ccurl_aborted;
    case CURLE_COULDNT_RESOLVE_HOST: return ccurl_no_host;
    // The text of the second code contains the whole address of the proxy.
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_NOT_BUILT_IN: return ccurl_no_proxy;
    case CURLE_PROXY: return socks_outcome(transfer);
    case CURLE_COULDNT_CONNECT: return ccurl_no_connection;
    case CURLE_OPERATION_TIMEDOUT: return ccurl_timed_out;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS: return ccurl_untrusted;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY: return ccurl_not_http;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: return ccurl_connection_closed;
    case CURLE_URL_MALFORMAT: return ccurl_bad_address;
    case CURLE_SSL_CIPHER: return ccurl_no_encryption;
    case CURLE_SSL_CONNECT_ERROR:
      // A connection that breaks during the handshake has no text of the TLS library.
      return strstr(transfer->reason, "error:") || strstr(transfer->reason, "handshake")
                 ? ccurl_no_encryption
                 : ccurl_connection_closed;
    // libcurl reports a header line of more than 100 KiB as a lack of memory, before version 8.6.
    case CURLE_OUT_OF_MEMORY: return ccurl_header_too_long;
    default:
      return (int)transfer->code == code_too_large ? ccurl_header_too_long : ccurl_broken;
  }
}

ccurl_outcome ccurl_multi_perform(ccurl_multi *multi, ccurl_transfer *transfer) {
  int count = 0;
  const locale_t before = uselocale(transfer->locale);
  lib.multi_perform(multi->multi, &count);
  uselocale(before);
  CURLMsg *message;
  while ((message = lib.multi_info_read(multi->multi, &count))) {
    if (message->msg == CURLMSG_DONE && message->easy_handle == transfer->easy) {
      transfer->code = message->data.result;
      return outcome(transfer);
    }
  }
  return ccurl_still_running;
}

void ccurl_multi_wait(ccurl_multi *multi, int descriptor, int milliseconds) {
  struct curl_waitfd extra = {.fd = descriptor, .events = CURL_WAIT_POLLIN};
  lib.multi_poll(multi->multi, &extra, 1, milliseconds, NULL);
}

// Returns the part `what` of `address`, or of `reference` resolved against `address`. Removes the
// user's name and password unless `has_user`. The caller frees the result; NULL on failure.
static char *part(const char *address, const char *reference, CURLUPart what, bool has_user) {
  const unsigned flags = CURLU_NON_SUPPORT_SCHEME;
  CURLU *url = lib.url();
  char *text = NULL, *copy = NULL;
  if (url && lib.url_set(url, CURLUPART_URL, address, flags) == CURLUE_OK &&
      (!reference || lib.url_set(url, CURLUPART_URL, reference, flags) == CURLUE_OK)) {
    if (!has_user) {
      lib.url_set(url, CURLUPART_USER, NULL, 0);
      lib.url_set(url, CURLUPART_PASSWORD, NULL, 0);
    }
    if (lib.url_get(url, what, &text, 0) == CURLUE_OK) copy = strdup(text);
    lib.free(text);
  }
  lib.url_cleanup(url);
  return copy;
}

char *ccurl_address_scheme(const char *address) {
  return part(address, NULL, CURLUPART_SCHEME, true);
}

char *ccurl_address_path(const char *address) {
  return part(address, NULL, CURLUPART_PATH, true);
}

char *ccurl_address_without_user(const char *address) {
  return part(address, NULL, CURLUPART_URL, false);
}

char *ccurl_address_join(const char *base, const char *reference) {
  return part(base, reference, CURLUPART_URL, true);
}
