// Any bytes as what an upstream answers: however they are cut into pieces, the same response comes
// out and the same place is refused; and any bytes as an upstream's URL.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/upstream.h"
#include "support/response_walk.h"

namespace {

using namespace layard;

constexpr std::uint64_t kBodyBytesMax = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

testing::ResponseWalkOptions options(std::size_t piece_bytes, bool to_head) {
  testing::ResponseWalkOptions walk;
  walk.head = {.head_bytes_max = 512, .fields_max = 8, .target_bytes_max = 128};
  walk.body_bytes_max = kBodyBytesMax;
  walk.piece_bytes = piece_bytes;
  walk.to_head = to_head;
  return walk;
}

void check_head(const http::ReceivedHead& head, bool to_head) {
  require(head.status >= 200 && head.status <= 599);
  require(head.fields.size() <= 8);
  for (const auto& field : head.fields.all()) {
    require(http::is_token(field.name) && http::is_field_value(field.value));
  }
  require(head.fields.count("Content-Length") + head.fields.count("Transfer-Encoding") <= 1);
  const bool without = to_head || head.status == 204 || head.status == 304;
  require(!without || head.body == http::ResponseBody::kNone);
  require(head.body != http::ResponseBody::kUntilClose || !head.keep_alive);
}

void check_same(const testing::ResponseWalk& a, const testing::ResponseWalk& b) {
  require(a.head.has_value() == b.head.has_value());
  require(!a.head || a.head->status == b.head->status);
  require(a.body == b.body && a.whole == b.whole);
  require(a.refusal.has_value() == b.refusal.has_value());
  require(!a.refusal || a.refusal->reason == b.refusal->reason);
}

void check_url(std::string_view text) {
  const auto upstream = http::parse_upstream(text);
  if (!upstream.ok()) return;
  require(!upstream->host.empty() && upstream->port > 0 && upstream->port <= 65535);
  const auto again = http::parse_upstream(upstream->origin() + upstream->path);
  require(again.ok() && *again == *upstream);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool to_head : {false, true}) {
    const auto whole =
        testing::walk_response(bytes, options(static_cast<std::size_t>(-1), to_head));
    if (whole.head) check_head(*whole.head, to_head);
    require(whole.body.size() <= kBodyBytesMax);
    check_same(whole, testing::walk_response(bytes, options(1, to_head)));
    check_same(whole, testing::walk_response(bytes, options(1 + size % 13, to_head)));
  }
  check_url(bytes.substr(0, 256));
  return 0;
}
