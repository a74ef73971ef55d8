#include "gateway/measure_stream.h"

#include <algorithm>

namespace layard::gateway {

double StreamTimer::ms_since_sent(std::int64_t now_ns) const {
  return static_cast<double>(now_ns - sent_ns_) / 1e6;
}

void StreamTimer::feed(std::string_view bytes, std::int64_t now_ns) {
  watch_.feed(bytes);
  while (!bytes.empty()) {
    const SseLines::Token token = lines_.next(bytes);
    if (event_.size() < kSseEventBytesMax) event_ += bytes.substr(0, token.bytes);
    bytes.remove_prefix(token.bytes);
    if (token.kind == SseLines::Kind::kBlankLine) end_event(now_ns);
  }
}

void StreamTimer::finish(std::int64_t now_ns) {
  watch_.finish();
  end_event(now_ns);
}

void StreamTimer::end_event(std::int64_t now_ns) {
  SseWatch one;
  one.feed(event_);
  one.finish();
  event_.clear();
  if (one.events() == 0) return;
  last_ns_ = now_ns;
  if (!one.saw_token()) return;
  ++tokens_seen_;
  if (!first_ns_) first_ns_ = now_ns;
}

Status StreamTimer::result(MeasuredRequest& request) const {
  const auto failed = [](const char* what) { return Error{ErrorCode::kBackendUnavailable, what}; };
  if (watch_.saw_error()) return failed("sent an error in its stream");
  if (!watch_.saw_end()) return failed("broke its stream off before the last event");
  if (!first_ns_) return failed("sent no token in its stream");
  const TokenUsage& usage = watch_.usage();
  request.ttft_ms = ms_since_sent(*first_ns_);
  request.total_ms = std::max(ms_since_sent(last_ns_), request.ttft_ms);
  request.prompt_tokens = usage.prompt_tokens;
  request.cached_tokens = usage.cached_tokens.value_or(0);
  request.output_tokens = usage.completion_tokens.value_or(tokens_seen_);
  const bool told = usage.completion_tokens.has_value() && usage.prompt_tokens.has_value();
  request.tokens_from = !told                        ? TokenSource::kEvents
                        : usage.predicted_per_second ? TokenSource::kTimings
                                                     : TokenSource::kUsage;
  if (!told) request.prompt_tokens.reset();
  return {};
}

}  // namespace layard::gateway
