// JSON around the answers: runtime block, raw rows, errors, tokens. The answers themselves are the
// codec's.
#include "base/json.h"
#include "layard/model.h"
#include "runtime/json_layout.h"

namespace layard {
namespace {

using base::JsonValue;

JsonValue optional_number(const std::optional<double>& value) {
  return value.has_value() ? JsonValue::real(*value) : JsonValue::null();
}

JsonValue optional_text(const std::optional<std::string>& value) {
  return value.has_value() ? JsonValue::string(*value) : JsonValue::null();
}

template <class Range, class Convert>
JsonValue list(const Range& range, Convert convert) {
  JsonValue out = JsonValue::array();
  for (const auto& value : range) out.push_back(convert(value));
  return out;
}

JsonValue integers(const std::vector<std::int32_t>& values) {
  return list(values, [](std::int32_t value) { return JsonValue::integer(value); });
}

JsonValue floats(const std::vector<float>& values) {
  return list(values, [](float value) { return JsonValue::real(value); });
}

JsonValue runtime_json(const RuntimeInfo& info) {
  JsonValue out = JsonValue::object();
  out.set("backend", JsonValue::string(info.backend));
  out.set("device", JsonValue::string(info.device));
  out.set("model", JsonValue::string(info.model));
  out.set("model_revision", JsonValue::string(info.model_revision));
  out.set("sequence_length", JsonValue::integer(info.sequence_length));
  out.set("question_count", JsonValue::integer(info.question_count));
  out.set("routing_reason", JsonValue::string(info.routing_reason));
  out.set("artifact_revision", JsonValue::string(info.artifact_revision));
  out.set("latency_ms", JsonValue::real(info.latency_ms));
  out.set("compute_units", optional_text(info.compute_units));
  out.set("buckets", list(info.buckets, [](int value) { return JsonValue::integer(value); }));
  out.set("dtype", optional_text(info.dtype));
  out.set("execution", JsonValue::string(info.execution));
  out.set("queue_wait_ms", optional_number(info.queue_wait_ms));
  out.set("device_ms", optional_number(info.device_ms));
  out.set("cpu_backlog_ms", optional_number(info.cpu_backlog_ms));
  out.set("npu_backlog_ms", optional_number(info.npu_backlog_ms));
  out.set("request_id", JsonValue::integer(info.request_id));
  out.set("truncated", JsonValue::boolean(info.truncated));
  out.set("model_routing", optional_text(info.model_routing));
  if (info.rechecked.has_value()) out.set("rechecked", JsonValue::integer(*info.rechecked));
  if (info.remapped) out.set("remapped", JsonValue::boolean(true));
  return out;
}

JsonValue row_json(const RawRow& row) {
  JsonValue out = JsonValue::object();
  out.set("input_ids", integers(row.input_ids));
  out.set("markers", integers(row.markers));
  out.set("logits", floats(row.logits));
  out.set("act", floats(row.act));
  if (!row.option_order.empty()) {
    out.set("option_order", list(row.option_order,
                                 [](std::uint32_t option) { return JsonValue::integer(option); }));
  }
  return out;
}

// A question's row, or the list of its windows' and orders' rows.
JsonValue rows_json(const std::vector<RawRow>& rows) {
  JsonValue out = JsonValue::object();
  for (const RawRow& row : rows) {
    JsonValue* earlier = out.find_mutable(row.question);
    if (earlier == nullptr) {
      out.set(row.question, row_json(row));
    } else if (earlier->is_array()) {
      earlier->push_back(row_json(row));
    } else {
      JsonValue windows = JsonValue::array();
      windows.push_back(std::move(*earlier));
      windows.push_back(row_json(row));
      *earlier = std::move(windows);
    }
  }
  return out;
}

}  // namespace

std::string print_prediction(const Prediction& prediction, const CodecOptions& options) {
  const auto text = [](const JsonValue& value) {
    return write_json(value, base::JsonStyle::kCompact);
  };
  AnswerSet answers = prediction.answers;
  if (!prediction.rows.empty()) answers.extra.push_back({"rows", text(rows_json(prediction.rows))});
  answers.extra.push_back({"runtime", text(runtime_json(prediction.runtime))});
  return print_answers(answers, options);
}

std::string print_error(const Error& error, const CodecOptions& options) {
  JsonValue body = JsonValue::object();
  body.set("type", JsonValue::string(std::string(error_type_name(error.code))));
  body.set("message", JsonValue::string(error.message));
  JsonValue root = JsonValue::object();
  root.set("error", std::move(body));
  return write_json(root, runtime::json_style(options.layout));
}

std::string print_tokens(std::span<const std::int32_t> ids, std::span<const std::string> tokens) {
  JsonValue root = JsonValue::object();
  root.set("ids", list(ids, [](std::int32_t id) { return JsonValue::integer(id); }));
  root.set("tokens",
           list(tokens, [](const std::string& token) { return JsonValue::string(token); }));
  return write_json(root, base::JsonStyle::kPython);
}

Result<std::string> parse_text_line(std::string_view line) {
  LAYARD_ASSIGN(const JsonValue root, base::parse_json(line, {}));
  const JsonValue* text = root.find("text");
  if (text == nullptr || !text->is_string()) {
    return Error{ErrorCode::kInvalidRequest,
                 "a line must be an object with a text: {\"text\": \"...\"}"};
  }
  return text->text();
}

}  // namespace layard
