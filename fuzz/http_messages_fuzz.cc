// Any bytes as what a client sends on a connection: however they are cut into pieces, the same
// requests come out and the same place is refused; and any bytes as a target, a query and a host.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/target.h"
#include "support/request_walk.h"

namespace {

using namespace layard;
using http::Request;

void require(bool condition) {
  if (!condition) std::abort();
}

testing::WalkOptions options(std::size_t piece_bytes) {
  testing::WalkOptions walk;
  walk.head = {.head_bytes_max = 512, .fields_max = 8, .target_bytes_max = 128};
  walk.body_bytes_max = 4096;
  walk.piece_bytes = piece_bytes;
  return walk;
}

void check_request(const Request& request) {
  require(http::is_token(request.method));
  require(request.target.starts_with('/') && request.target.size() <= 128);
  require(request.body.size() <= 4096 && request.fields.size() <= 8);
  for (const auto& field : request.fields.all()) {
    require(http::is_token(field.name) && http::is_field_value(field.value));
  }
  const auto hosts = request.fields.count("Host");
  require(hosts == 1 || (hosts == 0 && request.version_minor == 0));
  const auto framings =
      request.fields.count("Content-Length") + request.fields.count("Transfer-Encoding");
  require(framings <= 1);
  require(framings == 1 || request.body.empty());
  require(!request.fields.find("Upgrade"));
}

void check_same(const testing::RequestWalk& a, const testing::RequestWalk& b) {
  require(a.requests.size() == b.requests.size());
  for (std::size_t i = 0; i < a.requests.size(); ++i) {
    require(a.requests[i].target == b.requests[i].target);
    require(a.requests[i].body == b.requests[i].body);
    require(a.requests[i].body_wire_bytes == b.requests[i].body_wire_bytes);
  }
  require(a.refusal.has_value() == b.refusal.has_value());
  require(!a.refusal || a.refusal->status() < 500);
}

void check_texts(std::string_view text) {
  const auto decoded = http::percent_decode(text);
  require(!decoded.ok() || decoded->size() <= text.size());
  const auto segments = http::path_segments(text, 16);
  require(!segments.ok() || segments->size() <= 16);
  const auto parameters = http::parse_query(text, 16);
  require(!parameters.ok() || parameters->size() <= 16);
  const auto host = http::parse_host(text);
  require(!host || !host->host.empty());
  static_cast<void>(http::bearer_token(text));
  static_cast<void>(http::is_media_type(text, "application/json"));
  require(http::equal_in_constant_time(text, text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = testing::walk_requests(bytes, options(static_cast<std::size_t>(-1)));
  for (const Request& request : whole.requests) check_request(request);
  check_same(whole, testing::walk_requests(bytes, options(1)));
  check_same(whole, testing::walk_requests(bytes, options(1 + size % 13)));
  check_texts(bytes.substr(0, 256));
  return 0;
}
