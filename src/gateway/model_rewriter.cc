#include "gateway/model_rewriter.h"

#include <algorithm>

#include "base/json.h"

namespace layard::gateway {

ModelRewriter::ModelRewriter(ReplyForm form, std::string_view model)
    : form_(form), quoted_model_(base::quote_json(model)) {}

void ModelRewriter::feed(std::string_view bytes, std::string& out) {
  if (form_ == ReplyForm::kJson) return feed_json(bytes, out);
  while (!bytes.empty()) {
    const SseLines::Token token = lines_.next(bytes);
    const std::string_view taken = bytes.substr(0, token.bytes);
    bytes.remove_prefix(token.bytes);
    if (token.kind == SseLines::Kind::kData) {
      feed_json(taken, out);
      continue;
    }
    out += taken;
    if (token.kind == SseLines::Kind::kLineEnd) end_line(false);
    if (token.kind == SseLines::Kind::kBlankLine) end_line(true);
  }
}

void ModelRewriter::feed_json(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const bool within = scanner_.in_model();
    const ModelScanner::Step step = scanner_.scan(bytes);
    const bool begins = step.found == ModelScanner::Found::kBegin;
    if (within && replaced_ == 1) {
      const bool ends = step.found == ModelScanner::Found::kEnd;
      first_seen_ += bytes.substr(0, step.bytes - (ends ? 1 : 0));
      first_seen_.resize(std::min(first_seen_.size(), kSeenBytesMax));
    }
    if (!within) out += bytes.substr(0, step.bytes - (begins ? 1 : 0));
    if (begins) {
      out += quoted_model_;
      ++replaced_;
    }
    bytes.remove_prefix(step.bytes);
  }
}

// Lines of data of one event are one text with line ends between, which no string may have in it.
void ModelRewriter::end_line(bool event_complete) {
  if (event_complete || !scanner_.is_open() || scanner_.in_string()) scanner_.restart();
}

}  // namespace layard::gateway
