// Any bytes as a device's reply. However they are cut, the same comes out and the same is seen; of
// what is JSON only the models differ. The first byte chooses the form and the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "gateway/model_rewriter.h"
#include "gateway/sse_events.h"

namespace {

using namespace layard;
using gateway::ReplyForm;

constexpr std::string_view kName = "n\"1";

void require(bool condition) {
  if (!condition) std::abort();
}

struct Seen {
  std::string out;
  std::uint64_t replaced = 0;
  gateway::SseWatch watch;
};

Seen feed(ReplyForm form, std::string_view bytes, std::size_t piece_bytes) {
  gateway::ModelRewriter rewriter(form, kName);
  Seen seen;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    rewriter.feed(piece, seen.out);
    seen.watch.feed(piece);
    bytes.remove_prefix(piece.size());
  }
  seen.replaced = rewriter.replaced();
  return seen;
}

void check_same(const Seen& a, const Seen& b) {
  require(a.out == b.out && a.replaced == b.replaced);
  require(a.watch.events() == b.watch.events());
  require(a.watch.at_boundary() == b.watch.at_boundary());
  require(a.watch.saw_token() == b.watch.saw_token() && a.watch.saw_end() == b.watch.saw_end());
  require(a.watch.saw_error() == b.watch.saw_error() && a.watch.usage() == b.watch.usage());
}

void rename(base::JsonValue* object) {
  if (object == nullptr || !object->is_object()) return;
  const auto* model = object->find("model");
  if (model != nullptr && model->is_string()) {
    object->set("model", base::JsonValue::string(std::string(kName)));
  }
}

void check_json(std::string_view before, std::string_view after) {
  auto value = base::parse_json(before, base::JsonLimits());
  if (!value.ok()) return;
  rename(&*value);
  rename(value->find_mutable("message"));
  rename(value->find_mutable("response"));
  const auto got = base::parse_json(after, base::JsonLimits());
  require(got.ok());
  require(write_json(*value, base::JsonStyle::kCompact) ==
          write_json(*got, base::JsonStyle::kCompact));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto form = data[0] % 2 == 0 ? ReplyForm::kJson : ReplyForm::kSse;
  const Seen whole = feed(form, bytes, bytes.size() + 1);
  check_same(whole, feed(form, bytes, 1));
  check_same(whole, feed(form, bytes, 2 + data[0] / 2 % 16));
  require(whole.replaced > 0 || whole.out == bytes);
  if (form == ReplyForm::kJson) check_json(bytes, whole.out);
  static_cast<void>(gateway::read_usage(bytes));
  return 0;
}
