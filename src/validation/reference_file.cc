// Reading recorded reference outputs, in the two forms they come in.
#include <cmath>
#include <optional>

#include "base/json_fault.h"
#include "validation/parity.h"

namespace layard::validation {
namespace {

using base::JsonValue;

// A file of reference outputs; the published ones have half a megabyte.
constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;

Error wrong(const std::string& where, const std::string& what) {
  return {ErrorCode::kInvalidRequest, "goldens " + where + ": " + what};
}

// A text of one line: that its JSON is at fault in line 1 would only contradict the file's number.
std::string without_own_line(std::string message) {
  constexpr std::string_view kOwnLine = "JSON at line 1, ";
  if (message.starts_with(kOwnLine)) message.replace(0, kOwnLine.size(), "JSON at ");
  return message;
}

Result<std::vector<std::int32_t>> integers(const JsonValue* array, const std::string& where) {
  if (array == nullptr || !array->is_array())
    return wrong(where, "must be a list of whole numbers");
  std::vector<std::int32_t> out;
  for (const JsonValue& item : array->items()) {
    const auto value = item.as_int64();
    if (!value || *value < 0 || *value > INT32_MAX)
      return wrong(where, "must be a list of whole numbers");
    out.push_back(static_cast<std::int32_t>(*value));
  }
  return out;
}

Result<std::vector<double>> numbers(const JsonValue* array, const std::string& where) {
  if (array == nullptr || !array->is_array() || array->size() == 0) {
    return wrong(where, "must be a list of numbers");
  }
  std::vector<double> out;
  for (const JsonValue& item : array->items()) {
    if (!item.is_number() || !std::isfinite(static_cast<float>(item.as_double()))) {
      return wrong(where, "must be a list of finite numbers");
    }
    out.push_back(item.as_double());
  }
  return out;
}

std::vector<double> softmax(const std::vector<double>& logits) {
  double peak = logits[0];
  for (const double value : logits) peak = std::max(peak, value);
  std::vector<double> p;
  double total = 0;
  for (const double value : logits) total += p.emplace_back(std::exp(value - peak));
  for (double& value : p) value /= total;
  return p;
}

Result<ReferenceRow> read_row(const JsonValue& ids_from, const char* ids_key, const char* type_key,
                              const JsonValue* logits, const std::string& where) {
  ReferenceRow row;
  LAYARD_ASSIGN(row.ids, integers(ids_from.find(ids_key), where + "." + ids_key));
  LAYARD_ASSIGN(row.markers, integers(ids_from.find("markers"), where + ".markers"));
  LAYARD_ASSIGN(const std::vector<double> values, numbers(logits, where + ".logits"));
  const JsonValue* type = ids_from.find(type_key);
  const auto number = type != nullptr ? type->as_int64() : std::nullopt;
  if (!number || *number < 0 || *number > 2)
    return wrong(where + "." + type_key, "must be 0, 1 or 2");
  row.type = static_cast<int>(*number);
  row.logits.assign(values.begin(), values.end());
  if (row.ids.empty()) return wrong(where, "needs at least one token id");
  for (std::size_t i = 0; i < row.markers.size(); ++i) {
    const bool inside = static_cast<std::size_t>(row.markers[i]) < row.ids.size();
    if (!inside || (i > 0 && row.markers[i] <= row.markers[i - 1])) {
      return wrong(where + ".markers", "must ascend inside the row");
    }
  }
  if (row.logits.size() != row.markers.size()) return wrong(where, "needs one logit a marker");
  return row;
}

// `{name, state, questions, items, logits, action_logits}`
Status read_items(const JsonValue& json, const std::string& where, ReferenceCase& out) {
  const JsonValue* items = json.find("items");
  const JsonValue* logits = json.find("logits");
  const JsonValue* actions = json.find("action_logits");
  if (items == nullptr || logits == nullptr || actions == nullptr ||
      logits->size() != items->size() || actions->size() != items->size()) {
    return wrong(where, "items, logits and action_logits must be lists of the same length");
  }
  for (std::size_t i = 0; i < items->items().size(); ++i) {
    const std::string at = where + ".items[" + std::to_string(i) + "]";
    LAYARD_ASSIGN(ReferenceRow row,
                  read_row(items->items()[i], "ids", "qtype", &logits->items()[i], at));
    LAYARD_ASSIGN(const std::vector<double> act,
                  numbers(&actions->items()[i], at + ".action_logits"));
    row.act = softmax(act);
    out.rows.push_back(std::move(row));
  }
  return {};
}

// `{name, state, questions, rows: [{question, input_ids, markers, type, logits, act}]}`
Status read_rows(const JsonValue& json, const std::string& where, ReferenceCase& out) {
  for (std::size_t i = 0; i < json.find("rows")->items().size(); ++i) {
    const JsonValue& item = json.find("rows")->items()[i];
    const std::string at = where + ".rows[" + std::to_string(i) + "]";
    LAYARD_ASSIGN(ReferenceRow row, read_row(item, "input_ids", "type", item.find("logits"), at));
    LAYARD_ASSIGN(row.act, numbers(item.find("act"), at + ".act"));
    out.rows.push_back(std::move(row));
  }
  return {};
}

Status add_case(const JsonValue& json, const std::string& where, std::vector<ReferenceCase>& out) {
  if (!json.is_object()) return wrong(where, "must be an object");
  const JsonValue* state = json.find("state");
  const JsonValue* questions = json.find("questions");
  if (state == nullptr || questions == nullptr) return wrong(where, "needs state and questions");
  const bool has_rows = json.find("rows") != nullptr && json.find("rows")->is_array();
  if (!has_rows && json.find("items") == nullptr) return {};  // an error case, or one without rows
  ReferenceCase reference;
  reference.name = json.find("name") != nullptr ? json.find("name")->text() : where;
  reference.where = where;
  reference.state = *state;
  reference.questions = *questions;
  LAYARD_TRY(has_rows ? read_rows(json, where, reference) : read_items(json, where, reference));
  out.push_back(std::move(reference));
  return {};
}

// Whether `line` begins an object that is spread over many lines, which no line of JSON Lines does.
bool goes_on(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return std::string_view("{[,").find(line[last]) != std::string_view::npos;
}

// What is wrong with `text`, one value over many lines.
Error not_cases(std::string_view text) {
  const auto fault = base::find_json_fault(text, base::JsonLimits{}.depth_max);
  if (!fault) return wrong("file", "is neither JSON Lines nor an object with cases");
  return wrong("line " + std::to_string(fault->line),
               "JSON at column " + std::to_string(fault->column) +
                   (fault->pointer.empty() ? "" : " (" + fault->pointer + ")") + ": " +
                   fault->what);
}

Status read_lines(std::string_view text, const base::JsonLimits& limits,
                  std::vector<ReferenceCase>& out) {
  std::size_t number = 0;
  bool first = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string where = "line " + std::to_string(number);
    const auto json = base::parse_json(line, limits);
    if (!json.ok() && first && goes_on(line)) return not_cases(text);
    if (!json.ok()) return wrong(where, without_own_line(json.error().message));
    first = false;
    LAYARD_TRY(add_case(*json, where, out));
  }
  return {};
}

}  // namespace

Error at_case(const ReferenceCase& reference, Error error) {
  constexpr std::size_t kNameBytesMax = 128;
  const bool named = reference.name != reference.where;
  const std::string name = "case '" + reference.name.substr(0, kNameBytesMax) + "' (";
  error.message =
      "goldens " + (named ? name + reference.where + ")" : reference.where) + ": " + error.message;
  return error;
}

Result<std::vector<ReferenceCase>> read_reference(std::string_view text) {
  base::JsonLimits limits;
  limits.bytes_max = kFileBytesMax;
  std::vector<ReferenceCase> cases;
  if (auto whole = base::parse_json(text, limits); whole.ok() && whole->find("cases") != nullptr) {
    const auto items = whole->find("cases")->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      LAYARD_TRY(add_case(items[i], "cases[" + std::to_string(i) + "]", cases));
    }
  } else {
    LAYARD_TRY(read_lines(text, limits, cases));
  }
  if (cases.empty()) return wrong("file", "holds no case with rows");
  return cases;
}

}  // namespace layard::validation
