#include "gateway/evidence_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/sha256.h"
#include "gateway/policy_evidence.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::array<const char*, 3> kKinds = {"case", "length", "control"};
constexpr std::array<const char*, 3> kTokenSources = {"usage", "timings", "events"};
constexpr double kMsMax = 1e9;
constexpr std::int64_t kTokensMax = 1'000'000'000;
constexpr double kBytesMax = 1e15;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kTextBytesMax = 4096;

// Reads members of one object. The first fault is kept; what follows reads as nothing.
class Fields {
 public:
  Fields(const JsonValue& value, std::string where, std::string& fault)
      : value_(value), where_(std::move(where)), fault_(fault) {
    if (!value.is_object()) fail("", "must be an object");
  }

  std::string text(const char* name, std::size_t bytes_max, bool needed) {
    const JsonValue* member = find(name, needed);
    if (member == nullptr) return {};
    if (!member->is_string() || member->text().size() > bytes_max ||
        (needed && member->text().empty())) {
      fail(name, "must be a text of " + std::string(needed ? "1" : "0") + " to " +
                     std::to_string(bytes_max) + " bytes");
      return {};
    }
    return member->text();
  }

  double number(const char* name, double low, double high, bool needed) {
    const JsonValue* member = find(name, needed);
    if (member == nullptr) return 0;
    const double value = member->as_double();
    if (!member->is_number() || !(value >= low && value <= high)) {
      fail(name, "must be a number from " + shown(low) + " to " + shown(high));
      return 0;
    }
    return value;
  }

  std::int64_t whole(const char* name, std::int64_t low, std::int64_t high, bool needed) {
    const JsonValue* member = find(name, needed);
    if (member == nullptr) return low;
    const auto value = member->as_int64();
    if (!value || *value < low || *value > high) {
      fail(name,
           "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
      return low;
    }
    return *value;
  }

  template <class Words>
  std::size_t word(const char* name, const Words& words) {
    const std::string found = text(name, kNameBytesMax, true);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (found == words[i]) return i;
    }
    std::string list;
    for (const char* one : words) list += (list.empty() ? "" : ", ") + std::string(one);
    fail(name, "must be one of " + list);
    return 0;
  }

  bool has(const char* name) const {
    const JsonValue* member = value_.find(name);
    return member != nullptr && !member->is_null();
  }

  // Calls `read` with each element of a list and its place.
  template <class Read>
  void list(const char* name, std::size_t count_max, bool needed, Read read) {
    const JsonValue* member = find(name, needed);
    if (member == nullptr) return;
    if (!member->is_array() || member->size() > count_max) {
      fail(name, "must be a list of at most " + std::to_string(count_max));
      return;
    }
    std::size_t index = 0;
    for (const JsonValue& item : member->items()) {
      if (!fault_.empty()) return;
      read(Fields(item, where_ + name + "[" + std::to_string(index++) + "].", fault_));
    }
  }

  void fail(const std::string& name, const std::string& what) {
    if (fault_.empty()) fault_ = where_ + name + " " + what;
  }

 private:
  static std::string shown(double value) {
    return std::to_string(static_cast<std::int64_t>(value));
  }

  const JsonValue* find(const char* name, bool needed) {
    const JsonValue* member = value_.find(name);
    if (member != nullptr && !member->is_null()) return member;
    if (needed) fail(name, "is missing");
    return nullptr;
  }

  const JsonValue& value_;
  std::string where_;
  std::string& fault_;
};

MeasuredRequest read_request(Fields fields) {
  MeasuredRequest out;
  out.kind = static_cast<MeasuredKind>(fields.word("kind", kKinds));
  out.class_name = fields.text("class", kNameBytesMax, out.kind == MeasuredKind::kCase);
  out.device = fields.text("device", kNameBytesMax, true);
  out.prompt = fields.text("prompt", kNameBytesMax, true);
  out.round = static_cast<int>(fields.whole("round", 1, kMeasuredRoundsMax, true));
  out.position = static_cast<int>(fields.whole("position", 0, kMeasuredRequestsMax, false));
  out.status = static_cast<int>(fields.whole("status", 100, 599, true));
  out.ttft_ms = fields.number("ttft_ms", 0, kMsMax, true);
  out.total_ms = fields.number("total_ms", 0, kMsMax, true);
  if (out.total_ms < out.ttft_ms) fields.fail("total_ms", "must be at least ttft_ms");
  if (fields.has("prompt_tokens")) {
    out.prompt_tokens = fields.whole("prompt_tokens", 0, kTokensMax, false);
  }
  out.cached_tokens = fields.whole("cached_tokens", 0, kTokensMax, false);
  out.output_tokens = fields.whole("output_tokens", 0, kTokensMax, true);
  out.tokens_from = static_cast<TokenSource>(fields.word("tokens_from", kTokenSources));
  return out;
}

void read_lists(Fields& root, MeasuredEvidence& out) {
  root.list("devices", kMeasuredDevicesMax, true, [&](Fields fields) {
    MeasuredDevice device{fields.text("name", kNameBytesMax, true),
                          fields.text("url", kTextBytesMax, false),
                          fields.text("model", kTextBytesMax, false),
                          fields.number("resident_bytes", 0, kBytesMax, false)};
    if (out.find_device(device.name) != nullptr) fields.fail("name", "stands twice");
    out.devices.push_back(std::move(device));
  });
  std::set<std::string> classes;
  root.list("cases", kMeasuredCasesMax, true, [&](Fields fields) {
    out.cases.push_back({fields.text("id", kNameBytesMax, true),
                         fields.text("class", kNameBytesMax, true),
                         fields.whole("chars", 0, kTokensMax, false)});
    classes.insert(out.cases.back().class_name);
    if (classes.size() > kMeasuredClassesMax) fields.fail("class", "is one of more than 64");
  });
  root.list("discarded_rounds", kMeasuredRoundsMax, false, [&](Fields fields) {
    out.discarded.push_back({static_cast<int>(fields.whole("round", 1, kMeasuredRoundsMax, true)),
                             fields.text("device", kNameBytesMax, false),
                             fields.number("drift", 0, kMsMax, false)});
  });
  root.list("requests", kMeasuredRequestsMax, true, [&](Fields fields) {
    MeasuredRequest request = read_request(fields);
    if (out.find_device(request.device) == nullptr) {
      fields.fail("device", "is none of \"devices\"");
    }
    out.requests.push_back(std::move(request));
  });
}

JsonValue text_value(const std::string& text) { return JsonValue::string(text); }

// Milliseconds are kept to the microsecond.
JsonValue ms_value(double value) { return JsonValue::real(std::round(value * 1000) / 1000); }

std::string line_of(const JsonValue& value) { return write_json(value, base::JsonStyle::kPython); }

JsonValue request_json(const MeasuredRequest& request) {
  JsonValue out = JsonValue::object();
  out.set("kind", text_value(kKinds[static_cast<std::size_t>(request.kind)]));
  if (!request.class_name.empty()) out.set("class", text_value(request.class_name));
  out.set("device", text_value(request.device));
  out.set("prompt", text_value(request.prompt));
  out.set("round", JsonValue::integer(request.round));
  out.set("position", JsonValue::integer(request.position));
  out.set("status", JsonValue::integer(request.status));
  out.set("ttft_ms", ms_value(request.ttft_ms));
  out.set("total_ms", ms_value(request.total_ms));
  out.set("prompt_tokens",
          request.prompt_tokens ? JsonValue::integer(*request.prompt_tokens) : JsonValue::null());
  out.set("cached_tokens", JsonValue::integer(request.cached_tokens));
  out.set("output_tokens", JsonValue::integer(request.output_tokens));
  out.set("tokens_from", text_value(kTokenSources[static_cast<std::size_t>(request.tokens_from)]));
  return out;
}

JsonValue device_json(const MeasuredDevice& device) {
  JsonValue out = JsonValue::object();
  out.set("name", text_value(device.name));
  if (!device.url.empty()) out.set("url", text_value(device.url));
  if (!device.model.empty()) out.set("model", text_value(device.model));
  if (device.resident_bytes > 0) {
    out.set("resident_bytes", JsonValue::integer(std::llround(device.resident_bytes)));
  }
  return out;
}

JsonValue case_json(const MeasuredCase& one) {
  JsonValue out = JsonValue::object();
  out.set("id", text_value(one.id));
  out.set("class", text_value(one.class_name));
  out.set("chars", JsonValue::integer(one.chars));
  return out;
}

JsonValue discarded_json(const DiscardedRound& round) {
  JsonValue out = JsonValue::object();
  out.set("round", JsonValue::integer(round.round));
  out.set("device", text_value(round.device));
  out.set("drift", JsonValue::real(std::round(round.drift * 10000) / 10000));
  out.set("reason", text_value("the control's time at the end differs from that at the begin"));
  return out;
}

// `,\n "name": [`, one element a line, `]`.
template <class T>
std::string list_text(const char* name, const std::vector<T>& list, JsonValue (*json)(const T&)) {
  std::string out = ",\n \"" + std::string(name) + "\": [";
  for (std::size_t i = 0; i < list.size(); ++i) {
    out += (i == 0 ? "\n  " : ",\n  ") + line_of(json(list[i]));
  }
  return out + (list.empty() ? "]" : "\n ]");
}

}  // namespace

const MeasuredDevice* MeasuredEvidence::find_device(std::string_view name) const {
  const auto found = std::ranges::find(devices, name, &MeasuredDevice::name);
  return found == devices.end() ? nullptr : &*found;
}

bool MeasuredEvidence::is_discarded(int round) const {
  return std::ranges::find(discarded, round, &DiscardedRound::round) != discarded.end();
}

Result<MeasuredEvidence> parse_evidence(std::string_view text, const std::string& source) {
  const auto refused = [&](const std::string& what) {
    return Error{ErrorCode::kInvalidRequest, "evidence: " + what + " in " + source};
  };
  const auto root = base::parse_json(text, {.bytes_max = kEvidenceBytesMax});
  if (!root.ok()) return refused(root.error().message);
  std::string fault;
  Fields fields(*root, "", fault);
  const std::int64_t version = fields.whole("version", 0, kTokensMax, true);
  if (fault.empty() && version != kEvidenceVersion) {
    return refused("version " + std::to_string(version) + " is not known; version 1 is read");
  }
  MeasuredEvidence out;
  out.profile = fields.text("profile", kTextBytesMax, false);
  out.date = fields.text("date", kNameBytesMax, true);
  if (!day_number(out.date)) fields.fail("date", "must be a day as YYYY-MM-DD");
  out.model_sha256 = fields.text("model_sha256", kNameBytesMax, false);
  if (!out.model_sha256.empty() && !base::is_sha256_hex(out.model_sha256)) {
    fields.fail("model_sha256", "must be 64 hex digits in lower case");
  }
  read_lists(fields, out);
  if (!fault.empty()) return refused(fault);
  return out;
}

std::string write_evidence(const MeasuredEvidence& evidence) {
  const auto member = [](const char* name, const JsonValue& value) {
    return ",\n \"" + std::string(name) + "\": " + line_of(value);
  };
  std::string out = "{\n \"version\": " + std::to_string(kEvidenceVersion);
  out += member("profile", text_value(evidence.profile));
  out += member("date", text_value(evidence.date));
  if (!evidence.model_sha256.empty()) {
    out += member("model_sha256", text_value(evidence.model_sha256));
  }
  out += list_text("devices", evidence.devices, device_json);
  out += list_text("cases", evidence.cases, case_json);
  out += list_text("discarded_rounds", evidence.discarded, discarded_json);
  out += list_text("requests", evidence.requests, request_json);
  return out + "\n}\n";
}

}  // namespace layard::gateway
