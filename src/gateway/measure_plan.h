/// What is sent to which device in which order, and whether a round may be kept.
///
/// In a round the devices take turns, A B B A, so that what drifts meets all of them alike; the
/// control is sent to each of them at the begin and at the end. Before that each gets one request
/// to warm up that is not recorded.
/// Thread-safety: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/evidence_file.h"
#include "gateway/route_cases.h"
#include "layard/error.h"

namespace layard::gateway {

/// Control requests of a device at either end of a round; their median counts.
inline constexpr int kControlRepeats = 3;
/// Output tokens of a control or warm-up request, at most.
inline constexpr std::int64_t kControlTokens = 32;
inline constexpr std::int64_t kMeasureTokensMax = 65'536;
/// Tokens of a prompt of a given length, at most, and such prompts.
inline constexpr std::int64_t kPromptTokensMax = 1'048'576;
inline constexpr std::size_t kPromptLengthsMax = 32;

struct MeasurePlanOptions {
  std::size_t per_class = 24;
  std::vector<std::int64_t> prompt_lengths = {64, 512, 2048};  ///< tokens, roughly
  std::int64_t max_tokens = 256;                               ///< of a reply
  std::map<std::string, std::int64_t, std::less<>> class_max_tokens = {};
};

struct MeasurePrompt {
  MeasuredKind kind = MeasuredKind::kCase;
  std::string id;
  std::string class_name;
  std::string text;
  std::int64_t max_tokens = 1;
};

struct MeasurePlan {
  std::vector<MeasurePrompt> prompts;  ///< the control first
  std::vector<MeasuredCase> cases;
};

struct MeasureStep {
  std::size_t device = 0;
  std::size_t prompt = 0;
  bool recorded = true;
};

/// Takes `per_class` cases of each class, spread evenly over the file. The names of cases are the
/// class and the number among the file's cases, from 1. Errors: kInvalidRequest: a number out of
/// range, a limit for a class that no case has.
Result<MeasurePlan> plan_measurement(const std::vector<RouteCase>& cases,
                                     const MeasurePlanOptions& options);

/// The steps of a round, from 1. The same round gives the same steps.
std::vector<MeasureStep> round_steps(const MeasurePlan& plan, std::size_t devices, int round);

/// The text as it is sent. It begins with the round's number: a server that keeps prompts has to
/// read it anew.
std::string sent_text(const MeasurePrompt& prompt, int round);

/// The body of `POST /v1/chat/completions`: streamed, temperature 0, with usage.
std::string chat_body(const MeasurePrompt& prompt, int round, std::string_view model,
                      std::int64_t seed);

/// By how much a device's control took another time at the end of a round than at the begin, as a
/// share of the begin: medians of the first and the last kControlRepeats controls of `requests`.
double control_drift(std::span<const MeasuredRequest> requests, std::string_view device);

}  // namespace layard::gateway
