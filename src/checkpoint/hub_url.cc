#include "checkpoint/hub_url.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace layard::checkpoint {
namespace {

struct HandleDeleter {
  void operator()(CURLU* handle) const { curl_url_cleanup(handle); }
};
using Handle = std::unique_ptr<CURLU, HandleDeleter>;

// One part of the address; empty when it has none.
std::string part(const Handle& handle, CURLUPart which, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), which, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string cut(std::string_view text) {
  return std::string(text.substr(0, std::min<std::size_t>(text.find_first_of("?#"), 200)));
}

Url take_apart(const Handle& handle) {
  Url url;
  url.text = part(handle, CURLUPART_URL, 0);
  url.scheme = lower(part(handle, CURLUPART_SCHEME, 0));
  url.host = lower(part(handle, CURLUPART_HOST, 0));
  if (url.host.starts_with('[') && url.host.ends_with(']')) {
    url.host = url.host.substr(1, url.host.size() - 2);
  }
  const std::string port = part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), url.port);
  url.has_credentials =
      !part(handle, CURLUPART_USER, 0).empty() || !part(handle, CURLUPART_PASSWORD, 0).empty();
  return url;
}

// Sets `text` on `handle`, which may already hold the address it is relative to.
Result<Url> set_url(const Handle& handle, std::string_view text) {
  const bool control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; });
  const CURLUcode code = control
                             ? CURLUE_MALFORMED_INPUT
                             : curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(),
                                            CURLU_NON_SUPPORT_SCHEME);
  if (code != CURLUE_OK) {
    return Error{ErrorCode::kInvalidRequest, "'" + cut(without_credentials(text)) +
                                                 "' is not a web address (" +
                                                 curl_url_strerror(code) + ")"};
  }
  return take_apart(handle);
}

}  // namespace

std::string Url::origin() const { return scheme + "://" + host + ":" + std::to_string(port); }

std::string without_credentials(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(text);
  // From behind the scheme, else from a quote, else from the start: rather too much than too
  // little.
  const std::size_t scheme = text.substr(0, at).find("//");
  const std::size_t quote = text.substr(0, at).find('\'');
  std::size_t from = 0;
  if (scheme != std::string_view::npos) {
    from = scheme + 2;
  } else if (quote != std::string_view::npos) {
    from = quote + 1;
  }
  return std::string(text.substr(0, from)) + "***" + std::string(text.substr(at));
}

std::string Url::shown() const { return cut(text); }

Result<Url> parse_url(std::string_view text) {
  const Handle handle(curl_url());
  return set_url(handle, text);
}

Result<Url> join_url(const Url& base, std::string_view reference) {
  const Handle handle(curl_url());
  LAYARD_TRY(set_url(handle, base.text));
  return set_url(handle, reference);
}

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  // Only a dotted address is: 127.evil.example is a name like any other.
  int dots = 0;
  for (const char c : host) {
    if (c == '.') ++dots;
    if (c != '.' && (c < '0' || c > '9')) return false;
  }
  return dots == 3 && host.starts_with("127.");
}

Status check_url(const Url& url) {
  const std::string start = "'" + url.shown() + "' is refused: ";
  if (url.has_credentials) {
    return Error{ErrorCode::kInvalidRequest, "an address at '" + url.host +
                                                 "' is refused: it holds a user name or password; "
                                                 "use HF_TOKEN"};
  }
  if (url.scheme == "https" && !url.host.empty()) return {};
  if (url.scheme == "http" && is_loopback_host(url.host)) return {};
  if (url.scheme == "http") {
    return Error{ErrorCode::kInvalidRequest,
                 start + "plain http is only for this machine itself; use https"};
  }
  return Error{ErrorCode::kInvalidRequest, start + "only https addresses are downloaded from"};
}

Status check_redirect(const Url& from, const Url& to) {
  LAYARD_TRY(check_url(to));
  if (from.scheme == "https" && to.scheme != "https") {
    return Error{ErrorCode::kInvalidRequest, "'" + to.shown() + "' is refused: '" + from.shown() +
                                                 "' is https and may only lead to https"};
  }
  return {};
}

std::string file_url(std::string_view endpoint, std::string_view repo, std::string_view revision,
                     std::string_view path) {
  std::string url(endpoint);
  for (const std::string_view piece : {repo, std::string_view("resolve"), revision, path}) {
    url += "/" + std::string(piece);
  }
  return url;
}

}  // namespace layard::checkpoint
