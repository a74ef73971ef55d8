#include "http/body_decoder.h"

#include <algorithm>
#include <utility>

namespace layard::http {
namespace {

// The budget is asked after each piece of this size: what one piece decodes to, at most the body's
// bound, is what a thread may hold beyond it for a moment.
constexpr std::size_t kPieceBytes = 16 * 1024;

Refusal too_large(std::size_t bytes_max) {
  return {RefusalReason::kBodySize,
          "the body is over " + std::to_string(bytes_max) + " bytes; send less"};
}

}  // namespace

std::optional<Refusal> check_announced_size(const BodyPlan& plan) {
  if (plan.framing != BodyFraming::kLength || plan.content_length <= plan.bytes_max) {
    return std::nullopt;
  }
  return too_large(plan.bytes_max);
}

BodyDecoder::BodyDecoder(const BodyPlan& plan, BudgetShare& share)
    : plan_(plan),
      share_(share),
      chunks_(ChunkLimits{}),
      content_(ContentDecoder::create(plan.coding, plan.bytes_max)) {}

BodyDecoder::State BodyDecoder::refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  return State::kRefused;
}

bool BodyDecoder::decode(std::string_view data) {
  wire_bytes_ += data.size();
  while (!data.empty()) {
    const auto piece = data.substr(0, kPieceBytes);
    data.remove_prefix(piece.size());
    auto bad = content_->write(piece, body_);
    if (bad) {
      refuse(std::move(*bad));
      return false;
    }
    if (!share_.grow_to(body_.capacity() + content_->memory_bytes())) {
      refuse({RefusalReason::kBodyMemory,
              "the server holds as many requests as its memory allows; try again later"});
      return false;
    }
  }
  return true;
}

BodyDecoder::State BodyDecoder::finish() {
  auto bad = content_->finish();
  if (bad) return refuse(std::move(*bad));
  return State::kDone;
}

BodyDecoder::State BodyDecoder::feed_length(std::string_view& bytes) {
  const auto left = plan_.content_length - wire_bytes_;
  const auto data =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size())));
  bytes.remove_prefix(data.size());
  if (!decode(data)) return State::kRefused;
  return wire_bytes_ == plan_.content_length ? finish() : State::kMore;
}

BodyDecoder::State BodyDecoder::feed_chunks(std::string_view& bytes) {
  while (true) {
    std::string_view data;
    const auto state = chunks_.next(bytes, data);
    if (state == ChunkDecoder::State::kRefused) return refuse(chunks_.refusal());
    // A size that cannot fit is refused when it is announced, not when its bytes arrived.
    const auto announced = data.size() + chunks_.announced_bytes();
    if (announced < data.size() || announced > plan_.bytes_max - wire_bytes_) {
      return refuse(too_large(plan_.bytes_max));
    }
    if (state == ChunkDecoder::State::kDone) return finish();
    if (state == ChunkDecoder::State::kMore) return State::kMore;
    if (!decode(data)) return State::kRefused;
  }
}

BodyDecoder::State BodyDecoder::feed(std::string_view& bytes) {
  switch (plan_.framing) {
    case BodyFraming::kLength:
      if (auto bad = check_announced_size(plan_)) return refuse(std::move(*bad));
      return feed_length(bytes);
    case BodyFraming::kChunked:
      return feed_chunks(bytes);
    case BodyFraming::kNone:
      break;
  }
  return finish();
}

}  // namespace layard::http
