#include "gateway/sse_events.h"

#include <algorithm>
#include <array>

#include "gateway/body_tree.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::size_t kNameBytesMax = 64;
constexpr base::JsonLimits kEventLimits = {
    .bytes_max = kSseEventBytesMax, .depth_max = 64, .nodes_max = kSseEventBytesMax};

constexpr std::array<std::string_view, 4> kUsagePlaces = {"usage", "timings", "message",
                                                          "response"};
constexpr std::array<std::string_view, 14> kUsageMembers = {
    "usage",
    "prompt_tokens",
    "input_tokens",
    "completion_tokens",
    "output_tokens",
    "prompt_tokens_details",
    "input_tokens_details",
    "cached_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_n",
    "predicted_per_second",
    "prompt_ms",
    "timings",
};
constexpr std::array<std::string_view, 4> kLastTypes = {"message_stop", "response.completed",
                                                        "response.incomplete", "response.failed"};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

const JsonValue* member(const JsonValue* object, std::string_view name) {
  return object == nullptr ? nullptr : object->find(name);
}

std::string_view string_of(const JsonValue* value) {
  return value != nullptr && value->is_string() ? std::string_view(value->text()) : "";
}

std::optional<std::int64_t> count_of(const JsonValue* value) {
  const auto count = value == nullptr ? std::nullopt : value->as_int64();
  return count && *count >= 0 ? count : std::nullopt;
}

std::optional<double> amount_of(const JsonValue* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double amount = value->as_double();
  return amount >= 0 && amount < 1e300 ? std::optional(amount) : std::nullopt;
}

template <class T>
void take(std::optional<T>& into, const std::optional<T>& found) {
  if (found) into = found;
}

void read_counts(const JsonValue* usage, TokenUsage& out) {
  for (const std::string_view name : {"prompt_tokens_details", "input_tokens_details"}) {
    take(out.cached_tokens, count_of(member(member(usage, name), "cached_tokens")));
  }
  // Anthropic counts a prompt's cached tokens apart.
  const auto cached = count_of(member(usage, "cache_read_input_tokens"));
  const auto created = count_of(member(usage, "cache_creation_input_tokens"));
  take(out.cached_tokens, cached);
  take(out.prompt_tokens, count_of(member(usage, "prompt_tokens")));
  if (const auto input = count_of(member(usage, "input_tokens"))) {
    constexpr std::int64_t kCountMax = std::int64_t{1} << 60;  // the sum of three fits
    out.prompt_tokens = std::min(*input, kCountMax) + std::min(cached.value_or(0), kCountMax) +
                        std::min(created.value_or(0), kCountMax);
  }
  take(out.completion_tokens, count_of(member(usage, "completion_tokens")));
  take(out.completion_tokens, count_of(member(usage, "output_tokens")));
}

void read_usage_of(const JsonValue& reply, TokenUsage& out) {
  for (const JsonValue* place : {&reply, reply.find("message"), reply.find("response")}) {
    read_counts(member(place, "usage"), out);
  }
  const JsonValue* timings = reply.find("timings");
  take(out.cached_tokens, count_of(member(timings, "cache_n")));
  take(out.predicted_per_second, amount_of(member(timings, "predicted_per_second")));
  take(out.prompt_ms, amount_of(member(timings, "prompt_ms")));
}

bool choice_has_content(const JsonValue& choice) {
  const JsonValue* delta = choice.find("delta");
  for (const std::string_view name : {"content", "reasoning_content", "reasoning", "refusal"}) {
    if (!string_of(member(delta, name)).empty()) return true;
  }
  const JsonValue* calls = member(delta, "tool_calls");
  const JsonValue* call = member(delta, "function_call");
  return (calls != nullptr && calls->size() > 0) || (call != nullptr && call->is_object()) ||
         !string_of(choice.find("text")).empty();
}

bool has_content(const JsonValue& event, std::string_view type) {
  if (type == "content_block_delta") return true;
  if (type.starts_with("response.") && type.ends_with(".delta")) return true;
  const JsonValue* choices = event.find("choices");
  return choices != nullptr && std::ranges::any_of(choices->items(), choice_has_content);
}

// Whether what follows a name is `: null`.
bool is_null_member(std::string_view after_name) {
  const std::string_view rest = trimmed(after_name.substr(0, 16));
  return rest.starts_with(':') && trimmed(rest.substr(1)).starts_with("null");
}

struct Mentions {
  bool last = false;   // a type of kLastTypes
  bool other = false;  // usage, timings or an error, not null
};

// One look for names and values that an event is parsed for. Within a JSON string a quote is
// escaped: what stands between two quotes here is a whole one, or stands between two of them.
Mentions find_mentions(std::string_view data) {
  Mentions found;
  for (std::size_t at = data.find('"'); at != std::string_view::npos; at = data.find('"', at)) {
    const bool escaped = at > 0 && data[at - 1] == '\\';
    const std::string_view rest = data.substr(++at);
    if (escaped) continue;
    const auto is_first = [rest](std::string_view name) {
      return rest.starts_with(name) && rest.substr(name.size()).starts_with('"');
    };
    const char first = rest.empty() ? '\0' : rest.front();
    if (first == 'm' || first == 'r') found.last |= std::ranges::any_of(kLastTypes, is_first);
    if (first != 'u' && first != 't' && first != 'e') continue;
    for (const std::string_view name : {"usage", "timings", "error"}) {
      if (is_first(name)) found.other |= !is_null_member(rest.substr(name.size() + 1));
    }
  }
  return found;
}

}  // namespace

TokenUsage read_usage(std::string_view json_body) {
  TokenUsage usage;
  const auto reply = read_body_tree(json_body, kUsagePlaces, kUsageMembers);
  if (reply.ok()) read_usage_of(*reply, usage);
  return usage;
}

void SseWatch::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const SseLines::Token token = lines_.next(bytes);
    const std::string_view taken = bytes.substr(0, token.bytes);
    bytes.remove_prefix(token.bytes);
    if (token.kind == SseLines::Kind::kHalfEnd) continue;
    at_boundary_ = token.kind == SseLines::Kind::kBlankLine;
    switch (token.kind) {
      case SseLines::Kind::kData:
        has_data_ = true;
        cut_ |= taken.size() > kSseEventBytesMax - data_.size();
        data_ += taken.substr(0, kSseEventBytesMax - data_.size());
        break;
      case SseLines::Kind::kEventName:
        name_ += taken.substr(0, kNameBytesMax - name_.size());
        break;
      case SseLines::Kind::kErrorText:
        saw_error_ = true;
        break;
      case SseLines::Kind::kLineEnd:
        if (has_data_ && data_.size() < kSseEventBytesMax) data_ += '\n';
        break;
      case SseLines::Kind::kBlankLine:
        end_event();
        break;
      default:
        break;
    }
  }
}

void SseWatch::finish() { end_event(); }

void SseWatch::end_event() {
  if (has_data_) {
    ++events_;
    read_event(trimmed(data_));
  }
  data_.clear();
  name_.clear();
  has_data_ = cut_ = false;
}

void SseWatch::read_event(std::string_view data) {
  if (trimmed(name_) == "error") saw_error_ = true;
  if (data == "[DONE]") {
    saw_end_ = true;
    return;
  }
  if (cut_) {
    saw_token_ = true;  // nothing else is that large
    saw_end_ |= find_mentions(data).last;
    return;
  }
  if (!data.starts_with('{')) return;
  if (saw_token_) {
    const Mentions found = find_mentions(data);
    if (!found.last && !found.other) return;
  }
  const auto event = base::parse_json(data, kEventLimits);
  if (event.ok()) read_json(*event);
}

void SseWatch::read_json(const JsonValue& event) {
  const std::string_view type = string_of(event.find("type"));
  const JsonValue* error = event.find("error");
  saw_token_ |= has_content(event, type);
  saw_end_ |= std::ranges::find(kLastTypes, type) != kLastTypes.end();
  saw_error_ |= type == "error" || type == "response.failed" ||
                (error != nullptr && (error->is_object() || error->is_string()));
  read_usage_of(event, usage_);
}

}  // namespace layard::gateway
