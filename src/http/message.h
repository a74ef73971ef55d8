/// HTTP messages as handlers see them: plain values, no library's types.
/// Thread-safety: everything here is a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace layard::http {

class Loop;

struct Field {
  std::string name;
  std::string value;
};

/// Whether two field names, or two tokens of a field's value, are the same: ASCII case is ignored.
bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// Whether `name` may be a field's name: a non-empty token of RFC 9110.
bool is_token(std::string_view name) noexcept;

/// Whether `value` is a list of tokens with commas between; elements may be empty.
bool is_token_list(std::string_view value) noexcept;

/// Whether `value` may be a field's value: no control byte but tab, no space at either end.
bool is_field_value(std::string_view value) noexcept;

/// Header fields in the order they came. Names compare without case.
/// Lookups walk the list: a message has at most HeadLimits::fields_max fields.
class Fields {
 public:
  /// The value of the first field called `name`. The view lives as long as the field.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// The same, or an empty view.
  std::string_view value_or_empty(std::string_view name) const noexcept;
  std::size_t count(std::string_view name) const noexcept;
  /// Whether a field called `name` lists `token` between commas, without case.
  bool has_token(std::string_view name, std::string_view token) const noexcept;

  void add(std::string name, std::string value);
  /// Replaces all fields called `name` by one.
  void set(std::string_view name, std::string value);
  void erase(std::string_view name);

  const std::vector<Field>& all() const noexcept { return fields_; }
  bool empty() const noexcept { return fields_.empty(); }
  std::size_t size() const noexcept { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

/// One request that passed every check of request_checks.h.
///
/// In Handler::admit the body is empty, as it was not read; in Handler::handle it is whole and
/// decoded. Transfer-Encoding, Content-Length and Content-Encoding stay in `fields` as they were
/// sent and describe the bytes on the wire, not `body`.
struct Request {
  std::string method;                 // as sent; methods are case-sensitive
  std::string target;                 // as sent: origin form, path and query, still percent-encoded
  int version_minor = 1;              // HTTP/1.0 or HTTP/1.1
  Fields fields;                      // trailers are never among them
  std::string body;                   // after Transfer-Encoding and Content-Encoding were undone
  std::uint64_t body_wire_bytes = 0;  // of the body before Content-Encoding was undone
  std::string peer_address;           // of the client, without port: `127.0.0.1`, `::1`
  bool peer_is_loopback = false;
  std::int64_t received_ns = 0;   // monotonic: when the header's first byte was seen
  std::int64_t head_done_ns = 0;  // when the header was complete
  std::int64_t body_done_ns = 0;  // when the body was complete; 0 in admit
  /// What Handler::admit put into Admission::ticket; goes when the request does.
  std::shared_ptr<void> ticket;
  /// The body's part of ServerOptions::body_memory_bytes_max; keep it as long as the body.
  std::shared_ptr<void> body_memory;
  /// Of its connection: handle() is called on this loop's thread, and the Responder's cancellation
  /// too. Null where a test made the request.
  Loop* loop = nullptr;

  /// `target` before the first `?`, still percent-encoded (target.h decodes).
  std::string_view path() const noexcept;
  /// `target` after the first `?`, or empty.
  std::string_view query() const noexcept;
};

/// A whole answer, or the head of a streamed one.
///
/// Date, Content-Length, Transfer-Encoding, Connection and Keep-Alive are the server's: values
/// given here are ignored. A field whose name or value may not be sent is left out and counted
/// (Counters::response_fields_dropped). To HEAD, and with 204 and 304, the body is not sent.
struct Response {
  int status = 200;  // 200..599
  Fields fields;
  std::string body;
  bool close = false;  // close the connection after this response
};

/// `Not Found` for 404; `Unknown` for a status without a phrase.
std::string_view status_phrase(int status) noexcept;

/// A response with a body of one content type.
Response make_response(int status, std::string_view content_type, std::string body);

}  // namespace layard::http
