#include "checkpoint/http_fetch.h"

#include <curl/curl.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <memory>
#include <string_view>

#include "checkpoint/hub_url.h"

namespace layard::checkpoint {
namespace {

// A hub's reply has about 3 kB of header lines.
constexpr std::size_t kHeadBytesMax = 256 * 1024;

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

// Owner of a list of request header lines.
class HeaderLines {
 public:
  HeaderLines() = default;
  HeaderLines(const HeaderLines&) = delete;
  HeaderLines& operator=(const HeaderLines&) = delete;
  ~HeaderLines() { curl_slist_free_all(list_); }
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (longer != nullptr) list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Keeps a broken TLS connection from killing the process: CURLOPT_NOSIGNAL leaves SIGPIPE to us.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    blocked_ = pthread_sigmask(SIG_BLOCK, &set_, &before_) == 0;
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;
  ~SigpipeBlock() {
    if (!blocked_ || sigismember(&before_, SIGPIPE) == 1) return;
    // One that arrived meanwhile is ours: it is taken before the old mask lets it through.
    const struct timespec no_wait {};
    while (sigtimedwait(&set_, nullptr, &no_wait) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  bool blocked_ = false;
};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return fold(x) == fold(y);
  });
}

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_header_line(std::string_view line, HttpHead& head) {
  if (line.starts_with("HTTP/")) {
    head = HttpHead{};  // a new response: what an interim one said does not count
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      head.status = to_number<int>(line.substr(space + 1, 3)).value_or(0);
    }
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (same_name(name, "etag")) head.etag = value;
  if (same_name(name, "content-type")) head.content_type = value;
  if (same_name(name, "content-encoding")) head.content_encoding = value;
  if (same_name(name, "content-range")) head.content_range = value;
  if (same_name(name, "location")) head.location = value;
  if (same_name(name, "content-length")) head.content_length = to_number<std::uint64_t>(value);
  if (same_name(name, "retry-after")) head.retry_after_s = to_number<std::int64_t>(value);
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// What libcurl's callbacks share during one hop.
struct Hop {
  HttpReceiver* receiver = nullptr;
  const std::stop_token* stop = nullptr;
  HttpHead head;
  std::string shown_url;
  std::size_t head_bytes = 0;
  bool head_delivered = false;
  std::optional<Error> receiver_error;

  // Tells the receiver the head before the first byte, once.
  bool deliver_head() {
    if (head_delivered) return !receiver_error;
    head_delivered = true;
    head.url = shown_url;
    const Status status = receiver->on_head(head);
    if (!status.ok()) receiver_error = status.error();
    return status.ok();
  }
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& hop = *static_cast<Hop*>(user);
  hop.head_bytes += size * count;
  if (hop.head_bytes > kHeadBytesMax) return 0;
  read_header_line(trim(std::string_view(data, size * count)), hop.head);
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& hop = *static_cast<Hop*>(user);
  const std::size_t bytes = size * count;
  // Texts of redirects and errors are of no use; stopping here spares reading them.
  if (hop.head.status < 200 || hop.head.status > 299) return 0;
  if (!hop.deliver_head()) return 0;
  const Status status = hop.receiver->on_body(std::as_bytes(std::span(data, bytes)));
  if (status.ok()) return bytes;
  hop.receiver_error = status.error();
  return 0;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Hop*>(user)->stop->stop_requested() ? 1 : 0;
}

void set_up(CURL* easy, const Url& url, const HubOptions& options, const HeaderLines& lines,
            Hop& hop, std::array<char, CURL_ERROR_SIZE>& text) {
  curl_easy_setopt(easy, CURLOPT_URL, url.text.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, text.data());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "layard");
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca_file.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout_ms));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_timeout_s));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &hop);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &hop);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &hop);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

// Connection trouble that another try may not meet.
bool is_passing(CURLcode code) {
  constexpr std::array kPassing{CURLE_COULDNT_RESOLVE_PROXY,
                                CURLE_COULDNT_RESOLVE_HOST,
                                CURLE_COULDNT_CONNECT,
                                CURLE_PARTIAL_FILE,
                                CURLE_OPERATION_TIMEDOUT,
                                CURLE_GOT_NOTHING,
                                CURLE_SEND_ERROR,
                                CURLE_RECV_ERROR,
                                CURLE_HTTP2,
                                CURLE_HTTP2_STREAM,
                                CURLE_SSL_CONNECT_ERROR,
                                CURLE_WEIRD_SERVER_REPLY};
  return std::ranges::find(kPassing, code) != kPassing.end();
}

Error status_error(const HttpHead& head, const Url& url) {
  std::string text = "'" + url.shown() + "' answered " + std::to_string(head.status);
  if (head.status == 401 || head.status == 403) {
    text += ": the repository wants a token that may read it; set HF_TOKEN";
  } else if (head.status == 404) {
    text += ": no such repository, revision or file there; check HF_ENDPOINT and the name";
  } else if (head.status == 429) {
    text += ": too many requests; try again later";
  }
  return {ErrorCode::kBackendUnavailable, text};
}

HttpOutcome failed(Error error, bool retryable) {
  HttpOutcome outcome;
  outcome.error = std::move(error);
  outcome.retryable = retryable;
  return outcome;
}

// The outcome of one hop that libcurl ended with `code`.
HttpOutcome finish(CURLcode code, Hop& hop, const Url& url, std::string_view detail) {
  HttpOutcome outcome;
  outcome.head = hop.head;
  outcome.head.url = url.shown();
  const int status = hop.head.status;
  if (hop.receiver_error) {
    outcome.error = hop.receiver_error;
  } else if (code == CURLE_ABORTED_BY_CALLBACK) {
    outcome.error = Error{ErrorCode::kCancelled, "the download was cancelled"};
  } else if (is_redirect(status)) {
    return outcome;
  } else if (status != 0 && (status < 200 || status > 299)) {
    outcome.error = status_error(hop.head, url);
    outcome.retryable = status == 408 || status == 429 || status >= 500;
  } else if (code != CURLE_OK) {
    outcome.retryable = is_passing(code);
    // libcurl quotes a proxy's address as it was given, password and all.
    const std::string why = without_credentials(detail.empty() ? curl_easy_strerror(code) : detail);
    outcome.error =
        Error{ErrorCode::kBackendUnavailable, "cannot fetch '" + url.shown() + "': " + why};
  } else if (!hop.deliver_head()) {  // a response without a body
    outcome.error = hop.receiver_error;
  }
  return outcome;
}

HttpOutcome fetch_hop(const Url& url, const HttpRequest& request, const HubOptions& options,
                      bool with_token, HttpReceiver& receiver, const std::stop_token& stop) {
  const Easy easy(curl_easy_init());
  if (!easy) return failed({ErrorCode::kInternal, "libcurl could not be started"}, false);
  HeaderLines lines;
  // What is stored must be the file itself, not an encoding of it.
  lines.add("Accept-Encoding: identity");
  if (with_token) lines.add("Authorization: Bearer " + options.token);
  if (request.range_from > 0) {
    lines.add("Range: bytes=" + std::to_string(request.range_from) + "-");
    lines.add("If-Range: " + request.etag);
  }
  Hop hop;
  hop.receiver = &receiver;
  hop.stop = &stop;
  hop.shown_url = url.shown();
  std::array<char, CURL_ERROR_SIZE> text{};
  set_up(easy.get(), url, options, lines, hop, text);
  const SigpipeBlock block;
  const CURLcode code = curl_easy_perform(easy.get());
  return finish(code, hop, url, text.data());
}

// Whether `token` can stand in a header line.
bool is_clean_token(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7F'; });
}

}  // namespace

HttpOutcome http_fetch(const HttpRequest& request, const HubOptions& options,
                       HttpReceiver& receiver, const std::stop_token& stop) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK)
    return failed({ErrorCode::kInternal, "libcurl could not be started"}, false);
  if (!is_clean_token(options.token)) {
    return failed(
        {ErrorCode::kInvalidRequest,
         "HF_TOKEN holds characters no token has; set it again without blanks or line ends"},
        false);
  }
  const auto endpoint = parse_url(options.endpoint);
  if (!endpoint.ok()) return failed(endpoint.error(), false);
  auto url = parse_url(request.url);
  if (!url.ok()) return failed(url.error(), false);
  const Status allowed = check_url(*url);
  if (!allowed.ok()) return failed(allowed.error(), false);

  bool with_token = !options.token.empty();
  for (int redirects = 0;; ++redirects) {
    with_token = with_token && url->origin() == endpoint->origin();
    HttpOutcome outcome = fetch_hop(*url, request, options, with_token, receiver, stop);
    if (outcome.error || !is_redirect(outcome.head.status)) return outcome;
    if (redirects == options.redirects_max) {
      return failed(
          {ErrorCode::kBackendUnavailable, "'" + request.url + "' redirects more than " +
                                               std::to_string(options.redirects_max) + " times"},
          false);
    }
    auto next = join_url(*url, outcome.head.location);
    Status fine = next.ok() ? check_redirect(*url, *next) : Status(next.error());
    if (!fine.ok()) {
      return failed(
          {ErrorCode::kBackendUnavailable,
           "'" + url->shown() + "' redirects where no download may go: " + fine.error().message},
          false);
    }
    url = std::move(next);
  }
}

}  // namespace layard::checkpoint
