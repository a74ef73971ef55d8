#include "gateway/measure_plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/utf8.h"
#include "gateway/speed_fit.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

// Common words: nearly every tokenizer has each as one token.
constexpr std::array<const char*, 16> kWords = {
    "time", "people", "water", "long", "house", "world", "each", "light",
    "name", "place",  "small", "work", "great", "year",  "hand", "part"};

Error refused(const std::string& what) { return {ErrorCode::kInvalidRequest, what}; }

std::string words_text(std::int64_t count, std::size_t first) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = (first + static_cast<std::size_t>(i) * 7) % kWords.size();
    out += (i == 0 ? "" : " ") + std::string(kWords[at]);
  }
  return out;
}

MeasurePrompt control_prompt() {
  return {MeasuredKind::kControl, "control", "", "Name the days of the week, in order.",
          kControlTokens};
}

Status check_options(const std::vector<std::string>& classes, const MeasurePlanOptions& options) {
  if (options.per_class < 1 || options.per_class > kMeasuredCasesMax) {
    return refused("the cases per class are 1 to 100000");
  }
  const auto check_tokens = [](std::int64_t tokens) -> Status {
    if (tokens >= 2 && tokens <= kMeasureTokensMax) return {};
    return refused("the tokens of a reply are 2 to 65536, found " + std::to_string(tokens));
  };
  LAYARD_TRY(check_tokens(options.max_tokens));
  for (const auto& [name, tokens] : options.class_max_tokens) {
    LAYARD_TRY(check_tokens(tokens));
    if (std::ranges::find(classes, name) == classes.end()) {
      return refused("a limit of tokens is given for class '" + name + "', which no case has");
    }
  }
  if (options.prompt_lengths.size() > kPromptLengthsMax) {
    return refused("at most 32 lengths of prompts are measured");
  }
  for (const std::int64_t length : options.prompt_lengths) {
    if (length < 1 || length > kPromptTokensMax) {
      return refused("a prompt's length is 1 to 1048576 tokens, found " + std::to_string(length));
    }
  }
  return {};
}

std::vector<std::string> classes_of(const std::vector<RouteCase>& cases) {
  std::vector<std::string> out;
  for (const RouteCase& one : cases) {
    if (std::ranges::find(out, one.class_name) == out.end()) out.push_back(one.class_name);
  }
  return out;
}

// Numbers of the cases of a class that are taken, in their order.
std::vector<std::size_t> chosen_cases(const std::vector<RouteCase>& cases,
                                      const std::string& class_name, std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].class_name == class_name) all.push_back(i);
  }
  if (all.size() <= count) return all;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(all[i * all.size() / count]);
  return out;
}

}  // namespace

Result<MeasurePlan> plan_measurement(const std::vector<RouteCase>& cases,
                                     const MeasurePlanOptions& options) {
  const std::vector<std::string> classes = classes_of(cases);
  if (classes.empty()) return refused("there is no case to measure");
  if (classes.size() > kMeasuredClassesMax) return refused("at most 64 classes are measured");
  LAYARD_TRY(check_options(classes, options));
  MeasurePlan out;
  out.prompts.push_back(control_prompt());
  std::vector<std::vector<std::size_t>> chosen;
  std::size_t most = 0;
  for (const std::string& name : classes) {
    chosen.push_back(chosen_cases(cases, name, options.per_class));
    most = std::max(most, chosen.back().size());
  }
  for (std::size_t i = 0; i < most; ++i) {  // classes in turn, against slow drift
    for (const auto& numbers : chosen) {
      if (i >= numbers.size()) continue;
      const RouteCase& one = cases[numbers[i]];
      const auto limit = options.class_max_tokens.find(one.class_name);
      const std::string id = one.class_name + "-" + std::to_string(numbers[i] + 1);
      out.prompts.push_back(
          {MeasuredKind::kCase, id, one.class_name, one.text,
           limit == options.class_max_tokens.end() ? options.max_tokens : limit->second});
      out.cases.push_back(
          {id, one.class_name, static_cast<std::int64_t>(base::count_code_points(one.text))});
    }
  }
  for (std::size_t i = 0; i < options.prompt_lengths.size(); ++i) {
    const std::int64_t length = options.prompt_lengths[i];
    out.prompts.push_back({MeasuredKind::kLength,
                           "length-" + std::to_string(length) + "-" + std::to_string(i + 1), "",
                           words_text(length, i), 1});
  }
  return out;
}

std::vector<MeasureStep> round_steps(const MeasurePlan& plan, std::size_t devices, int round) {
  std::vector<MeasureStep> out;
  bool forward = round % 2 == 1;
  const auto on_all = [&](std::size_t prompt, bool recorded) {
    for (std::size_t i = 0; i < devices; ++i) {
      out.push_back({forward ? i : devices - 1 - i, prompt, recorded});
    }
    forward = !forward;
  };
  on_all(0, false);
  for (int i = 0; i < kControlRepeats; ++i) on_all(0, true);
  for (std::size_t prompt = 1; prompt < plan.prompts.size(); ++prompt) on_all(prompt, true);
  for (int i = 0; i < kControlRepeats; ++i) on_all(0, true);
  return out;
}

std::string sent_text(const MeasurePrompt& prompt, int round) {
  return "[" + std::to_string(round) + "] " + prompt.text;
}

std::string chat_body(const MeasurePrompt& prompt, int round, std::string_view model,
                      std::int64_t seed) {
  JsonValue message = JsonValue::object();
  message.set("role", JsonValue::string("user"));
  message.set("content", JsonValue::string(sent_text(prompt, round)));
  JsonValue messages = JsonValue::array();
  messages.push_back(std::move(message));
  JsonValue usage = JsonValue::object();
  usage.set("include_usage", JsonValue::boolean(true));
  JsonValue body = JsonValue::object();
  body.set("model", JsonValue::string(model.empty() ? "default" : std::string(model)));
  body.set("messages", std::move(messages));
  body.set("max_tokens", JsonValue::integer(prompt.max_tokens));
  body.set("temperature", JsonValue::integer(0));
  body.set("seed", JsonValue::integer(seed));
  body.set("stream", JsonValue::boolean(true));
  body.set("stream_options", std::move(usage));
  return write_json(body, base::JsonStyle::kCompact);
}

double control_drift(std::span<const MeasuredRequest> requests, std::string_view device) {
  std::vector<double> times;
  for (const MeasuredRequest& request : requests) {
    if (request.kind == MeasuredKind::kControl && request.device == device) {
      times.push_back(request.total_ms);
    }
  }
  const auto count = std::min<std::size_t>(kControlRepeats, times.size());
  const double first = median({times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count)});
  const double last = median({times.end() - static_cast<std::ptrdiff_t>(count), times.end()});
  return first > 0 ? std::abs(last - first) / first : 0;
}

}  // namespace layard::gateway
