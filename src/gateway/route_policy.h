/// Which device serves which kind of request: the policy file of `layard route`.
///
/// A file has one of two forms. Without `version` it is a file of the 1bit router and valid as it
/// is: members it does not know are passed over. With `version` 1 every member is checked, and the
/// gateway's settings, the devices and the evidence of rows are read too. docs/policy.schema.json
/// describes both.
/// Source: 1bit-MONSTER/engine `laya/policy.cpp` (rules of files without version, texts of their
/// errors, pick); departs: the size gate counts characters, not bytes.
/// Thread-safety: values are plain; the functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/policy_text.h"
#include "layard/error.h"

namespace layard::gateway {

/// The version of the file's form that is read.
inline constexpr int kPolicyVersion = 1;
/// Classes, options, devices and evidence a policy may have, each.
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
  std::string evidence = {};  ///< the name of a PolicyEvidence; empty: none
};

/// When the gateway asks the model.
enum class DecideWhen : std::uint8_t {
  kAlways,
  kUseful,  ///< only where the answer could change the device
  kShadow,  ///< after the reply, for the log
};

/// How the gateway decides. `layard route` always asks, and waits.
struct DecideRule {
  DecideWhen when = DecideWhen::kAlways;
  std::int64_t timeout_ms = 0;  ///< then the default device; 0: none
  std::int64_t max_chars = 0;   ///< of a text, for the model; 0: what the model reads
};

/// How long the gateway keeps a conversation's class.
struct StickyRule {
  std::int64_t ttl_s = 86400;
  std::int64_t max_entries = 65536;
  std::vector<std::string> headers;  ///< that name a conversation, the first present one counts
};

/// How the gateway finds out that a device is well. Each number is at least 1.
struct DeviceProbe {
  std::string path = "/health";
  std::int64_t interval_ms = 2000;
  std::int64_t timeout_ms = 1000;
  std::int64_t failures = 3;   ///< in a row, that take the device out
  std::int64_t successes = 1;  ///< in a row, that bring it back
};

/// A server behind the gateway, and the child process that is one.
struct PolicyDevice {
  std::string name;
  std::string url;    ///< may be empty: a device that only has a name
  std::string model;  ///< the server's name of its model; empty: the request's
  /// `tools`, `images` and others; empty: nothing is known, and nothing is held against it.
  std::vector<std::string> capabilities;
  std::int64_t context_tokens = 0;  ///< of a prompt and its reply; 0: not known
  std::vector<std::string> routes;  ///< `METHOD /path` that pass through besides the usual ones
  std::int64_t connect_ms = 1000;
  std::int64_t write_ms = 30000;   ///< of a request's body; 0: no limit
  std::int64_t first_byte_ms = 0;  ///< 0: no limit
  std::int64_t idle_ms = 600000;   ///< 0: no limit
  std::int64_t total_ms = 0;       ///< 0: no limit
  std::int64_t requests_max = 0;   ///< that run there at once; 0: no limit, and none waits
  std::int64_t queue_max = 0;      ///< that wait while requests_max run; 0: no limit of its own
  std::string api_key_env;         ///< the variable that holds the key it is sent; empty: none
  std::string api_key_file;        ///< the file that does; at most one of the two
  std::string ca_file;             ///< of the authorities it is trusted by; empty: the machine's
  DeviceProbe health;
  /// A child process: program and arguments, where `{port}` stands for the port of `url`; empty:
  /// the server is somebody else's. Not empty: `url` has a port.
  std::vector<std::string> command;
  std::vector<std::string> env;    ///< names of variables that the child is given
  std::string cwd;                 ///< the child's folder; empty: the gateway's
  std::int64_t ready_ms = 600000;  ///< until the child answers its first probe
  std::int64_t stop_ms = 10000;    ///< between asking it to end and ending it
};

/// What was measured for a row: requests of its class on its device against a baseline.
struct PolicyEvidence {
  std::string name;
  std::string profile;       ///< of the machine; may be empty
  std::string model_sha256;  ///< may be empty
  std::string class_name;    ///< may be empty: any
  std::string device;        ///< may be empty: any
  std::int64_t n = 0;        ///< requests
  std::string baseline;      ///< the other device
  double gain_ms = 0;        ///< of a request, mean; negative: slower
  double low_ms = 0;         ///< 95 % interval of it
  double high_ms = 0;
  std::string file;  ///< where the measurements are; may be empty
  std::string date;  ///< YYYY-MM-DD
};

/// Which of the answer's two confidences is held against min_confidence and shown.
enum class GateOn : std::uint8_t { kConfidence, kAnswerConfidence };

struct RoutePolicy {
  int version = 0;            ///< 0: a file of the 1bit router
  double min_confidence = 0;  ///< 0 to 1, inclusive
  GateOn gate_on = GateOn::kConfidence;
  std::string default_device;
  std::optional<SizeGate> size_gate;
  std::string instructions;
  /// In the order they are offered, without the gate's class.
  std::vector<ClassOption> options;
  /// The model that is asked; empty: the caller's choice.
  std::string checkpoint;
  /// Orders in which the options are offered (PredictOptions::orders).
  int orders = 1;
  std::vector<PolicyRow> rows;
  DecideRule decide;
  StickyRule sticky;
  std::vector<PolicyDevice> servers;
  std::vector<PolicyEvidence> evidence;
  /// Names of models by which clients leave the choice to the classes; `*`: any name does.
  std::vector<std::string> model_names;
  /// Whether a request that failed before its first byte goes to the next device.
  bool alternates_on_error = true;

  /// The seed's policy: its question and gate, every class on `vulkan`, threshold 0.16.
  static const RoutePolicy& built_in();

  /// Reads a policy, JSON or YAML (policy_text.h); `source` is the file's name. Without `size_gate`
  /// it has the 1bit router's, in characters, and with a version of the first user message; with
  /// null or false none. Without `question` it has
  /// the built-in one. Errors: kInvalidRequest; the text begins with `route policy: `, has the
  /// first error of check_policy, and ends with ` in SOURCE`.
  static Result<RoutePolicy> parse(std::string_view text, const std::string& source);

  /// Takes the gate's class out of the options; its description stays with the gate.
  void take_gate_class();
  /// Turns the gate off: its class becomes the last option, and the model is asked about all texts.
  void remove_gate();

  const PolicyRow* row(std::string_view class_name) const;
  const PolicyEvidence* find_evidence(std::string_view name) const;
  /// Every class there is: the options, then the gate's.
  std::vector<std::string> classes() const;
  /// Every device there is, each once: rows' devices and alternates, then the default.
  std::vector<std::string> devices() const;
};

/// `a, b, c`, for messages.
std::string listed(const std::vector<std::string>& names);

/// Whether a class's row decided, and if not, why.
enum class RowUse : std::uint8_t { kUsed, kBelowThreshold, kNoRow, kDeviceAbsent };
/// What named the device.
enum class DeviceRule : std::uint8_t { kRow, kAlternate, kDefault, kFirstCandidate, kNone };

struct DeviceChoice {
  std::string device;  ///< empty only without candidates
  RowUse row = RowUse::kUsed;
  DeviceRule rule = DeviceRule::kNone;
};

/// The device for a request of `class_name`: its row's, when `confidence` reaches min_confidence
/// and the device is a candidate; in a file with `version` else the first of the row's alternates
/// that is one; else the default one, if it is a candidate; else the first candidate.
DeviceChoice choose_device(const RoutePolicy& policy, std::string_view class_name,
                           double confidence, std::span<const std::string> candidates);

/// The same without the reasons.
std::string pick_device(const RoutePolicy& policy, std::string_view class_name, double confidence,
                        std::span<const std::string> candidates);

}  // namespace layard::gateway
