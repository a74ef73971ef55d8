#include "gateway/policy_evidence.h"

#include <charconv>
#include <chrono>

#include "base/json.h"
#include "gateway/route_gain.h"

namespace layard::gateway {
namespace {

constexpr std::int64_t kDayS = 86400;

std::optional<int> number_of(std::string_view digits) {
  int out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc() || end != digits.data() + digits.size() || out < 0) return std::nullopt;
  return out;
}

std::string quoted(std::string_view text) { return shown_text(text); }

std::string number_text(double value) {
  return write_json(base::JsonValue::real(value), base::JsonStyle::kCompact);
}

using Faults = std::vector<EvidenceFault>;

// What was measured must be what the row is about.
void check_subject(const PolicyEvidence& evidence, const EvidenceUse& use, Faults& out) {
  const auto other = [&](const char* member, const std::string& found, const std::string& wanted,
                         const std::string& whose) {
    if (found.empty() || wanted.empty() || found == wanted) return;
    out.push_back({true, member,
                   "was measured for " + std::string(member) + " " + quoted(found) + ", " + whose +
                       " " + quoted(wanted),
                   "measure again, or leave the row on the default device"});
  };
  other("class", evidence.class_name, use.class_name, "the row is of");
  other("device", evidence.device, use.device, "the row goes to");
  other("baseline", evidence.baseline, use.baseline, "the default device is");
  other("profile", evidence.profile, use.profile, "this is");
  other("model_sha256", evidence.model_sha256, use.model_sha256, "this is");
}

void check_gain(const PolicyEvidence& evidence, Faults& out) {
  if (evidence.low_ms > evidence.high_ms) {
    out.push_back({true, "ci95_ms", "has an interval whose lower end is the larger one",
                   "write [LOW, HIGH]"});
    return;
  }
  if (evidence.gain_ms < evidence.low_ms || evidence.gain_ms > evidence.high_ms) {
    out.push_back({true, "gain_ms", "has a gain outside of its own interval", "measure again"});
  }
  if (evidence.low_ms > kMoveGainMsMin) return;
  out.push_back({true, "ci95_ms",
                 "shows a gain of at least " + number_text(evidence.low_ms) +
                     " ms only, and a move needs more than " + number_text(kMoveGainMsMin),
                 "leave the row on the default device, or measure more requests"});
}

void check_date(const PolicyEvidence& evidence, const EvidenceUse& use, Faults& out) {
  if (evidence.date.empty()) return;
  const auto age = evidence_age_days(evidence.date, use.now_s);
  if (!age.has_value()) {
    out.push_back({true, "date", "has a date that no calendar has", "write YYYY-MM-DD"});
  } else if (*age < -1) {  // somewhere it may be tomorrow
    out.push_back({true, "date", "is dated " + std::to_string(-*age) + " days from now",
                   "write the day of the measurement, or set this machine's clock"});
  } else if (*age > use.days_max) {
    out.push_back(
        {false, "date",
         "is " + std::to_string(*age) + " days old, more than " + std::to_string(use.days_max),
         "measure again: drivers, models and servers have changed"});
  }
}

}  // namespace

std::optional<std::int64_t> day_number(std::string_view date) {
  if (date.size() != 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto year = number_of(date.substr(0, 4));
  const auto month = number_of(date.substr(5, 2));
  const auto day = number_of(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day found{std::chrono::year(*year),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
  if (!found.ok()) return std::nullopt;
  return std::chrono::sys_days(found).time_since_epoch().count();
}

std::optional<std::int64_t> evidence_age_days(std::string_view date, std::int64_t now_s) {
  const auto day = day_number(date);
  if (!day.has_value()) return std::nullopt;
  const std::int64_t today = now_s >= 0 ? now_s / kDayS : (now_s - kDayS + 1) / kDayS;
  return today - *day;
}

std::vector<EvidenceFault> evidence_faults(const PolicyEvidence& evidence, const EvidenceUse& use) {
  Faults out;
  check_subject(evidence, use, out);
  check_gain(evidence, out);
  check_date(evidence, use, out);
  if (evidence.n < kEvidenceRequestsMin) {
    out.push_back({false, "n",
                   "rests on " + std::to_string(evidence.n) + " requests, fewer than " +
                       std::to_string(kEvidenceRequestsMin),
                   "measure more"});
  }
  return out;
}

}  // namespace layard::gateway
