#include "language/state_text.h"

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"

namespace layard::language {
namespace {

// Appends up to `code_points_max` code points of `text`; returns how many.
std::size_t append_text(std::u32string& out, std::string_view text, std::size_t code_points_max) {
  std::size_t offset = 0;
  std::size_t count = 0;
  while (count < code_points_max && offset < text.size()) {
    const base::Utf8Step step = base::decode_utf8(text, offset);
    out.push_back(step.code_point);
    offset += step.bytes;
    ++count;
  }
  return count;
}

// Joins the texts of a document until the limit is reached, then stops the parser.
class TextCollector final : public base::JsonHandler {
 public:
  bool on_null() override { return true; }
  bool on_bool(bool) override { return true; }
  bool on_number(std::string_view, bool) override { return true; }
  bool on_string(std::string_view text) override {
    if (depth_ > kDepthMax) return true;
    if (joined_) out_.push_back(U' ');
    joined_ = true;
    // A blank before the next text is paid for with this one.
    const std::size_t cost = append_text(out_, text, left_) + 1;
    left_ -= std::min(cost, left_);
    return left_ > 0;
  }
  bool on_begin_object() override { return enter(); }
  bool on_key(std::string_view) override { return true; }
  bool on_end_object() override { return leave(); }
  bool on_begin_array() override { return enter(); }
  bool on_end_array() override { return leave(); }

  std::u32string take() { return std::move(out_); }

 private:
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::u32string out_;
  std::size_t depth_ = 0;
  std::size_t left_ = kCodePointsMax;
  bool joined_ = false;
};

}  // namespace

std::u32string plain_text(std::string_view text) {
  std::u32string out;
  append_text(out, text, kCodePointsMax);
  return out;
}

Result<std::u32string> json_text(std::string_view json) {
  base::JsonLimits limits;
  // A state's text was within the limits when it was read; written again it has more blanks.
  limits.bytes_max = std::max(limits.bytes_max, json.size());
  // A number out of range (1e999) was written again as Infinity.
  limits.infinities = true;
  TextCollector collector;
  LAYARD_TRY(base::parse_json_events(json, limits, collector));
  return collector.take();
}

}  // namespace layard::language
