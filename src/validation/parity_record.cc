#include "validation/parity_record.h"

#include <cmath>

#include "base/filesystem.h"
#include "base/json.h"
#include "base/sha256.h"
#include "validation/parity.h"

namespace layard::validation {
namespace {

namespace fs = std::filesystem;
using base::JsonValue;

constexpr std::int64_t kFormat = 2;
constexpr std::size_t kFolderHexDigits = 16;

// Texts of a record by name, for reading, writing and comparing.
struct TextField {
  const char* name;
  std::string RecordKey::*member;
};
constexpr TextField kKeyFields[] = {
    {"weights_sha256", &RecordKey::weights_sha256},
    {"config_sha256", &RecordKey::config_sha256},
    {"dtype", &RecordKey::dtype},
    {"isa", &RecordKey::isa},
    {"kernels", &RecordKey::kernels},
    {"build", &RecordKey::build},
    {"processor", &RecordKey::processor},
};

JsonValue count_json(std::size_t value) {
  return JsonValue::integer(static_cast<std::int64_t>(value));
}

Error malformed(const std::string& name, const std::string& wanted) {
  return {ErrorCode::kArtifactIntegrity, "'" + name + "' must be " + wanted};
}

Result<std::string> read_text(const JsonValue& root, const std::string& name) {
  const JsonValue* value = root.find(name);
  if (value == nullptr || !value->is_string()) return malformed(name, "a text");
  return value->text();
}

Result<std::size_t> read_count(const JsonValue& root, const std::string& name) {
  const JsonValue* value = root.find(name);
  const auto number = value != nullptr ? value->as_int64() : std::nullopt;
  if (!number || *number < 0) return malformed(name, "a whole number, zero or more");
  return static_cast<std::size_t>(*number);
}

Result<bool> read_flag(const JsonValue& root, const std::string& name) {
  const JsonValue* value = root.find(name);
  if (value == nullptr || !value->is_bool()) return malformed(name, "true or false");
  return value->as_bool();
}

Result<double> read_measure(const JsonValue& root, const std::string& name) {
  const JsonValue* value = root.find(name);
  const double number = value != nullptr && value->is_number() ? value->as_double() : -1;
  if (!std::isfinite(number) || number < 0) return malformed(name, "a number, zero or more");
  return number;
}

// What error_json() wrote: null only beside a number that was not finite.
Result<double> read_error(const JsonValue& root, const std::string& name, bool all_finite) {
  const JsonValue* value = root.find(name);
  if (!all_finite && value != nullptr && value->is_null()) return HUGE_VAL;
  return read_measure(root, name);
}

// A passing record must say so in every part; a file that was edited to pass has to lie in all.
Status check_claims(const ParityRecord& record) {
  if (!record.passed) return {};
  if (record.rows < kRecordRowsMin) {
    return malformed("rows", "at least " + std::to_string(kRecordRowsMin) + " where it passed");
  }
  if (record.hard_mismatches != 0) return malformed("hard_mismatches", "0 where it passed");
  if (record.token_mismatch_cases != 0) {
    return malformed("token_mismatch_cases", "0 where it passed");
  }
  if (!record.all_finite) return malformed("all_finite", "true where it passed");
  if (!record.repeat_identical) return malformed("repeat_identical", "true where it passed");
  if (record.weights != "trained" && record.weights != "unknown") {
    return malformed("weights", "'trained' or 'unknown' where it passed");
  }
  const double tolerance = record.key.dtype == "float32" ? kToleranceFloat32 : kToleranceReduced;
  const std::string within = "within the gate's tolerance where it passed";
  if (record.prob_max_abs > tolerance) return malformed("prob_max_abs", within);
  if (record.action_prob_max_abs > tolerance) return malformed("action_prob_max_abs", within);
  if (!(record.row_ms_median > 0)) return malformed("row_ms_median", "more than 0");
  return {};
}

// What of `path` is not this user's alone, or nothing.
std::optional<std::string> exposed_part(const fs::path& path) {
  for (const fs::path& part : {path.parent_path().parent_path(), path.parent_path(), path}) {
    const auto info = base::real_filesystem().link_stat(part);
    if (!info.ok()) return info.error().message;
    const auto kind = part == path ? base::FileKind::kFile : base::FileKind::kFolder;
    if (*info && ((*info)->kind != kind || !base::is_private(**info))) {
      return "'" + part.string() + "' is not a " +
             (kind == base::FileKind::kFile ? "file" : "folder") + " of this user alone";
    }
  }
  return std::nullopt;
}

// Names what differs between what a record was made with and what is here.
std::string differences(const RecordKey& made_with, const RecordKey& here) {
  std::string names;
  for (const TextField& field : kKeyFields) {
    if (made_with.*field.member == here.*field.member) continue;
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  }
  return names;
}

}  // namespace

fs::path record_path(const fs::path& cache, const RecordKey& key) {
  return cache / "parity" / key.weights_sha256.substr(0, kFolderHexDigits) /
         (key.isa + "-" + key.dtype + ".json");
}

std::string print_record(const ParityRecord& record) {
  JsonValue out = JsonValue::object();
  out.set("format", JsonValue::integer(kFormat));
  for (const TextField& field : kKeyFields) {
    out.set(field.name, JsonValue::string(record.key.*field.member));
  }
  out.set("weights", JsonValue::string(record.weights));
  out.set("date", JsonValue::string(record.date));
  out.set("goldens_sha256", JsonValue::string(record.goldens_sha256));
  out.set("rows", count_json(record.rows));
  out.set("hard_mismatches", count_json(record.hard_mismatches));
  out.set("near_ties", count_json(record.near_ties));
  out.set("token_mismatch_cases", count_json(record.token_mismatch_cases));
  out.set("prob_max_abs", error_json(record.prob_max_abs));
  out.set("action_prob_max_abs", error_json(record.action_prob_max_abs));
  out.set("all_finite", JsonValue::boolean(record.all_finite));
  out.set("repeat_identical", JsonValue::boolean(record.repeat_identical));
  out.set("passed", JsonValue::boolean(record.passed));
  out.set("duration_s", JsonValue::real(record.duration_s));
  out.set("row_ms_median", JsonValue::real(record.row_ms_median));
  return write_json(out, base::JsonStyle::kIndent1) + "\n";
}

Result<ParityRecord> parse_record(std::string_view text) {
  const auto root = base::parse_json(text, {});
  if (!root.ok()) return Error{ErrorCode::kArtifactIntegrity, root.error().message};
  const JsonValue* format = root->find("format");
  const auto number = format != nullptr ? format->as_int64() : std::nullopt;
  if (!number) return malformed("format", "a whole number");
  if (*number != kFormat) {
    return Error{ErrorCode::kArtifactRevision,
                 "format " + std::to_string(*number) + ", not " + std::to_string(kFormat)};
  }
  ParityRecord record;
  for (const TextField& field : kKeyFields) {
    LAYARD_ASSIGN(record.key.*field.member, read_text(*root, field.name));
  }
  if (!base::is_sha256_hex(record.key.weights_sha256)) {
    return malformed("weights_sha256", "64 hex digits");
  }
  LAYARD_ASSIGN(record.weights, read_text(*root, "weights"));
  LAYARD_ASSIGN(record.date, read_text(*root, "date"));
  LAYARD_ASSIGN(record.goldens_sha256, read_text(*root, "goldens_sha256"));
  LAYARD_ASSIGN(record.rows, read_count(*root, "rows"));
  LAYARD_ASSIGN(record.hard_mismatches, read_count(*root, "hard_mismatches"));
  LAYARD_ASSIGN(record.near_ties, read_count(*root, "near_ties"));
  LAYARD_ASSIGN(record.token_mismatch_cases, read_count(*root, "token_mismatch_cases"));
  LAYARD_ASSIGN(record.all_finite, read_flag(*root, "all_finite"));
  LAYARD_ASSIGN(record.repeat_identical, read_flag(*root, "repeat_identical"));
  LAYARD_ASSIGN(record.passed, read_flag(*root, "passed"));
  LAYARD_ASSIGN(record.prob_max_abs, read_error(*root, "prob_max_abs", record.all_finite));
  LAYARD_ASSIGN(record.action_prob_max_abs,
                read_error(*root, "action_prob_max_abs", record.all_finite));
  LAYARD_ASSIGN(record.duration_s, read_measure(*root, "duration_s"));
  LAYARD_ASSIGN(record.row_ms_median, read_measure(*root, "row_ms_median"));
  LAYARD_TRY(check_claims(record));
  return record;
}

Status write_record(const fs::path& cache, const ParityRecord& record) {
  const fs::path path = record_path(cache, record.key);
  auto& files = base::real_filesystem();
  LAYARD_TRY(files.make_private_folder(path.parent_path().parent_path()));
  LAYARD_TRY(files.make_private_folder(path.parent_path()));
  LAYARD_TRY(base::write_private_atomically(files, path, print_record(record)));
  return files.sync_folder(path.parent_path());
}

RecordLookup find_record(const fs::path& cache, const RecordKey& key) {
  using State = RecordLookup::State;
  const fs::path path = record_path(cache, key);
  const auto refused = [&](const std::string& why) {
    return RecordLookup{State::kRefused, std::nullopt,
                        "parity record '" + path.string() + "' is ignored: " + why +
                            "; remove it and run the parity check again"};
  };
  const auto there = base::real_filesystem().link_stat(path);
  if (!there.ok()) return refused(there.error().message);
  if (!there->has_value()) return {};
  if (const auto exposed = exposed_part(path)) return refused(*exposed);
  const auto text = base::real_filesystem().read_private_text(path, kRecordBytesMax);
  if (!text.ok()) return refused(text.error().message);
  const auto outdated = [&](const std::string& how) {
    return RecordLookup{State::kOutdated, std::nullopt,
                        "parity record '" + path.string() + "' was made with " + how +
                            "; run the parity check again"};
  };
  auto record = parse_record(*text);
  if (!record.ok() && record.error().code == ErrorCode::kArtifactRevision) {
    return outdated("another version (" + record.error().message + ")");
  }
  if (!record.ok()) return refused(record.error().message);
  const std::string other = differences(record->key, key);
  if (!other.empty()) return outdated("another " + other);
  return {State::kCurrent, *std::move(record), ""};
}

}  // namespace layard::validation
