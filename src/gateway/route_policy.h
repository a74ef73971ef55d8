/// Which device serves which kind of request: the policy file of `layard route`.
///
/// A file of the 1bit router is valid as it is. Source: 1bit-MONSTER/engine `laya/policy.cpp`
/// (rules, texts of errors, pick); departs: the size gate counts characters, not bytes.
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// Bytes a policy file may have.
inline constexpr std::size_t kPolicyBytesMax = std::size_t{1} << 20;
/// Classes, options and devices a policy may have, each.
inline constexpr std::size_t kPolicyEntriesMax = 256;

enum class GateUnit : std::uint8_t { kChars, kBytes };
/// The part of a conversation whose size and kind is asked about.
enum class GateScope : std::uint8_t {
  kFirstUser,  ///< the first user message
  kHead,       ///< all messages up to and including it
  kAll,
};

/// A request of at least `min` units is of `class_name` without asking the model, and then that
/// class is no option of the question.
struct SizeGate {
  std::int64_t min = 1024;
  GateUnit unit = GateUnit::kChars;
  GateScope scope = GateScope::kHead;
  std::string class_name = "long_doc";
  /// What the question would say of the class, were it an option; may be empty.
  std::string description = {};
};

/// One answer the question offers.
struct ClassOption {
  std::string name;
  std::string description;
};

/// Where requests of a class go.
struct PolicyRow {
  std::string class_name;
  std::string device;
  std::vector<std::string> alternates;
  std::string why;
};

/// Which of the answer's two confidences is held against min_confidence and shown.
enum class GateOn : std::uint8_t { kConfidence, kAnswerConfidence };

struct RoutePolicy {
  double min_confidence = 0;  ///< 0 to 1, inclusive
  GateOn gate_on = GateOn::kConfidence;
  std::string default_device;
  std::optional<SizeGate> size_gate;
  std::string instructions;
  /// In the order they are offered, without the gate's class.
  std::vector<ClassOption> options;
  /// The model that is asked; empty: the caller's choice.
  std::string checkpoint;
  std::vector<PolicyRow> rows;

  /// The seed's policy: its question and gate, every class on `vulkan`, threshold 0.16.
  static const RoutePolicy& built_in();

  /// Reads a policy. Members it does not know are passed over, as the 1bit router does. Without
  /// `size_gate` it has the 1bit router's, in characters; with null or false none. Without
  /// `question` it has the built-in one. Errors: kInvalidRequest; the text begins with
  /// `route policy: ` and ends with ` in SOURCE`.
  static Result<RoutePolicy> parse(std::string_view json, const std::string& source);

  /// Turns the gate off: its class becomes the last option, and the model is asked about all texts.
  void remove_gate();

  const PolicyRow* row(std::string_view class_name) const;
  /// Every class there is: the options, then the gate's.
  std::vector<std::string> classes() const;
  /// Every device there is, each once: rows' devices and alternates, then the default.
  std::vector<std::string> devices() const;
};

/// `a, b, c`, for messages.
std::string listed(const std::vector<std::string>& names);

/// The device for a request of `class_name`: its row's, when `confidence` reaches min_confidence
/// and the device is a candidate; else the default one, if it is a candidate; else the first
/// candidate. Empty only without candidates.
std::string pick_device(const RoutePolicy& policy, std::string_view class_name, double confidence,
                        std::span<const std::string> candidates);

}  // namespace layard::gateway
