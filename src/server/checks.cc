#include "server/checks.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/utf8.h"

namespace layard::server {
namespace {

using base::JsonKind;
using base::JsonValue;

constexpr std::size_t kNameBytesMax = 200;  // of a caller's word in a message

const JsonValue* find_given(const JsonValue& body, std::string_view key) {
  const JsonValue* value = body.find(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

std::string counts(std::size_t found, std::size_t most) {
  return "(" + std::to_string(found) + " > " + std::to_string(most) + ")";
}

std::string quoted(std::string_view name) { return "'" + shortened(name, kNameBytesMax) + "'"; }

// Options of one question, as far as they can be counted.
struct OptionCount {
  std::size_t options = 0;
  std::optional<Fault> fault;
};

OptionCount count_choice(const std::string& id, const JsonValue& criteria,
                         const RequestLimits& limits) {
  OptionCount out{criteria.size(), {}};
  if (out.options > limits.choice_options_max) {
    out.fault = Fault{413, "too many choice options for " + quoted(id) + " " +
                               counts(out.options, limits.choice_options_max)};
  }
  return out;
}

OptionCount count_score(const std::string& id, const JsonValue& criteria,
                        const RequestLimits& limits) {
  OptionCount out;
  if (!criteria.is_array()) return out;
  out.options = criteria.size();
  if (out.options > limits.score_levels_max) {
    out.fault = Fault{413, "too many score levels for " + quoted(id) + " " +
                               counts(out.options, limits.score_levels_max)};
    return out;
  }
  const auto null_level = std::ranges::find_if(criteria.items(), &JsonValue::is_null);
  if (null_level != criteria.items().end()) {
    out.fault = Fault{422, "score question " + quoted(id) + " has a null level at index " +
                               std::to_string(null_level - criteria.items().begin()) +
                               "; give every level a description"};
  }
  return out;
}

OptionCount count_options(const std::string& id, const JsonValue& definition,
                          const RequestLimits& limits) {
  const JsonValue* type = definition.find("type");
  const JsonValue* criteria = definition.find("criteria");
  if (type == nullptr || criteria == nullptr) return {};
  if (type->text() == "choice") return count_choice(id, *criteria, limits);
  if (type->text() == "score") return count_score(id, *criteria, limits);
  return {};
}

std::optional<Fault> check_hooks(const JsonValue& body) {
  constexpr std::array<std::string_view, 5> kHooks = {"hooks", "hooks_raise", "hooks_timeout",
                                                      "on_predict_end", "on_predict_start"};
  std::string found;
  for (const std::string_view name : kHooks) {
    if (find_given(body, name) == nullptr) continue;
    found += (found.empty() ? "" : ", ") + std::string(name);
  }
  if (found.empty()) return std::nullopt;
  return Fault{422, found +
                        " run inside the server process and cannot be sent to this endpoint; "
                        "install them where laya-serve runs, or drop them"};
}

std::optional<Fault> check_budget(const JsonValue& body, const std::string& name,
                                  const RequestLimits& limits) {
  const JsonValue* value = find_given(body, name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_integer()) return Fault{422, name + " must be an integer"};
  // An integer that fits nowhere is only known by its sign.
  const bool negative = value->text().starts_with('-');
  const auto tokens = value->as_int64();
  if (negative || tokens == 0) return Fault{422, name + " must be a positive integer"};
  if (tokens.has_value() && *tokens <= limits.budget_tokens_max) return std::nullopt;
  return Fault{422, name + " exceeds server limit (" + shortened(value->text(), 40) + " > " +
                        std::to_string(limits.budget_tokens_max) + ")"};
}

// How often a choice question is asked; what is no such number is left to the codec, which says so.
std::size_t orders_of(const JsonValue& body) {
  const JsonValue* stability = find_given(body, "stability");
  if (stability != nullptr && stability->is_bool() && stability->as_bool()) return 2;
  const JsonValue* orders = find_given(body, "orders");
  const auto count = orders != nullptr && orders->is_integer() ? orders->as_int64() : std::nullopt;
  if (!count.has_value() || *count < 1 || *count > kOrdersMax) return 1;
  return static_cast<std::size_t>(*count);
}

std::optional<Fault> check_rows(const JsonValue& body, const RequestLimits& limits) {
  const std::size_t orders = orders_of(body);
  if (orders == 1) return std::nullopt;
  const JsonValue& questions = *body.find("questions");
  std::size_t rows = questions.size();
  for (const auto& [id, definition] : questions.members()) {
    const JsonValue* type = definition.find("type");
    if (type != nullptr && type->is_string() && type->text() == "choice") rows += orders - 1;
  }
  if (rows <= limits.rows_max) return std::nullopt;
  return Fault{413, "too many rows, choice questions counted once an order " +
                        counts(rows, limits.rows_max)};
}

std::optional<Fault> check_languages(const JsonValue& body) {
  for (const char* name : {"lang", "lang_guess"}) {
    const JsonValue* value = find_given(body, name);
    if (value == nullptr || value->is_string()) continue;
    return Fault{422,
                 std::string(name) + " must be a language code string such as \"de\", or null"};
  }
  return std::nullopt;
}

std::optional<Fault> check_batch_controls(const JsonValue& body) {
  if (find_given(body, "diagnostics") != nullptr) {
    return Fault{422,
                 "diagnostics is filled in place for an in-process caller and cannot be returned "
                 "over HTTP; read the per-group report from the CLI or a local Router"};
  }
  if (const JsonValue* size = find_given(body, "batch_size")) {
    if (!size->is_integer()) return Fault{422, "batch_size must be an integer"};
    if (size->text().starts_with('-') || size->as_int64() == 0) {
      return Fault{422,
                   "batch_size must be a positive integer, got " + shortened(size->text(), 40)};
    }
  }
  const JsonValue* sort = find_given(body, "sort_by_length");
  if (sort != nullptr && !sort->is_bool()) return Fault{422, "sort_by_length must be a boolean"};
  return std::nullopt;
}

// Members that other servers act on. They are not refused, since clients send them to any server.
std::vector<std::string> unused_members(const JsonValue& body) {
  std::vector<std::string> warnings;
  for (const char* name : {"task", "lang", "lang_guess", "max_len", "head_max_len"}) {
    if (find_given(body, name) == nullptr) continue;
    warnings.push_back(std::string(name) + " has no effect on this server");
  }
  return warnings;
}

OrFault<Controls> check_controls(const JsonValue& body, const RequestLimits& limits,
                                 const KnownModels& models, bool is_batch) {
  if (auto fault = check_hooks(body)) return *std::move(fault);
  if (is_batch && find_given(body, "diagnostics") != nullptr) return *check_batch_controls(body);
  if (auto fault = check_model(body, models)) return *std::move(fault);
  for (const char* name : {"max_len", "head_max_len"}) {
    if (auto fault = check_budget(body, name, limits)) return *std::move(fault);
  }
  if (auto fault = check_languages(body)) return *std::move(fault);
  if (auto fault = check_rows(body, limits)) return *std::move(fault);
  Controls controls;
  if (const JsonValue* least = find_given(body, "min_confidence")) {
    auto gate = read_gate(*least);
    if (auto* fault = std::get_if<Fault>(&gate)) return *std::move(fault);
    controls.gate = std::get<ConfidenceGate>(std::move(gate));
  }
  if (is_batch) {
    if (auto fault = check_batch_controls(body)) return *std::move(fault);
  }
  if (const JsonValue* strict = find_given(body, "jev_strict")) {
    if (!strict->is_bool()) return Fault{422, "jev_strict must be a boolean"};
    controls.jev_strict = strict->as_bool();
  }
  controls.warnings = unused_members(body);
  return controls;
}

// Both names at once is left to the codec, which says so.
const JsonValue* find_state(const JsonValue& body) {
  const JsonValue* state = find_given(body, "state");
  return state != nullptr ? state : find_given(body, "context");
}

bool looks_like_path(std::string_view name) {
  return name.starts_with('.') || name.starts_with('~') ||
         name.find_first_of("/\\") != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

OrFault<JsonValue> parse_body(std::string_view body) {
  auto value = base::parse_json(body, base::JsonLimits{});
  if (value.ok()) return *std::move(value);
  if (value.error().message.find("an unpaired surrogate escape") != std::string::npos) {
    return Fault{400,
                 "request body contains an unpaired surrogate escape; those cannot be encoded as "
                 "UTF-8"};
  }
  return Fault{400, "request body must be valid JSON"};
}

std::optional<Fault> check_questions(const JsonValue& questions, const RequestLimits& limits) {
  const bool is_list =
      questions.is_array() && std::ranges::all_of(questions.items(), &JsonValue::is_string);
  if (!questions.is_object() && !is_list) return Fault{400, "'questions' must be an object"};
  if (questions.size() > limits.questions_max) {
    return Fault{413, "too many questions " + counts(questions.size(), limits.questions_max)};
  }
  std::size_t total = 0;
  for (const auto& [id, definition] : questions.members()) {
    OptionCount counted = count_options(id, definition, limits);
    if (counted.fault.has_value()) return std::move(counted.fault);
    total += counted.options;
  }
  if (total > limits.options_max) {
    return Fault{413,
                 "too many answer options across questions " + counts(total, limits.options_max)};
  }
  return std::nullopt;
}

std::optional<Fault> check_state_size(const JsonValue& state, const RequestLimits& limits) {
  const std::size_t chars =
      state.is_string()
          ? base::count_code_points(state.text())
          : base::count_code_points(base::write_json(state, base::JsonStyle::kPython));
  if (chars <= limits.state_chars_max) return std::nullopt;
  return Fault{413, "state too large (" + std::to_string(chars) + " > " +
                        std::to_string(limits.state_chars_max) + " chars)"};
}

std::optional<Fault> check_model(const JsonValue& body, const KnownModels& models) {
  const JsonValue* model = find_given(body, "model");
  if (model == nullptr) return std::nullopt;
  if (!model->is_string()) return Fault{422, "'model' must be a string"};
  const std::string_view name = trimmed(model->text());
  if (!looks_like_path(name) || models.knows(name)) return std::nullopt;
  std::string text = "unknown model " + quoted(name) + "; choose one of [";
  for (const std::string& known : models.names()) {
    text += (text.ends_with('[') ? "'" : ", '") + known + "'";
  }
  return Fault{422, text + "], or omit model to let the router choose"};
}

OrFault<Controls> check_systemone(const JsonValue& body, const RequestLimits& limits,
                                  const KnownModels& models) {
  const JsonValue* questions = body.find("questions");
  if (questions == nullptr) {
    return Fault{400, "request body must be an object with a 'questions' field"};
  }
  const JsonValue* state = find_state(body);
  if (state == nullptr) return Fault{400, "'state' is required"};
  if (auto fault = check_questions(*questions, limits)) return *std::move(fault);
  if (auto fault = check_state_size(*state, limits)) return *std::move(fault);
  return check_controls(body, limits, models, false);
}

OrFault<Controls> check_batch(const JsonValue& body, const RequestLimits& limits,
                              const KnownModels& models) {
  const JsonValue* questions = body.find("questions");
  const JsonValue* states = body.find("states");
  if (questions == nullptr || states == nullptr) {
    return Fault{400, "request body must be an object with 'states' and 'questions' fields"};
  }
  if (!states->is_array() || states->size() == 0) {
    return Fault{400, "'states' must be a non-empty list"};
  }
  if (states->size() > limits.states_max) {
    return Fault{413, "too many states in batch " + counts(states->size(), limits.states_max)};
  }
  if (std::ranges::any_of(states->items(), &JsonValue::is_null)) {
    return Fault{400, "'state' is required"};
  }
  if (auto fault = check_questions(*questions, limits)) return *std::move(fault);
  for (const JsonValue& state : states->items()) {
    if (auto fault = check_state_size(state, limits)) return *std::move(fault);
  }
  return check_controls(body, limits, models, true);
}

}  // namespace layard::server
