#include "runtime/render.h"

#include "base/json.h"
#include "runtime/json_layout.h"

namespace layard::runtime {
namespace {

using base::JsonValue;
using decision::PromptRow;

JsonValue count(std::size_t value) { return JsonValue::integer(static_cast<std::int64_t>(value)); }

JsonValue spans_json(const Question& question, const PromptRow& row,
                     const tokenizer::Tokenizer& tokens) {
  JsonValue out = JsonValue::array();
  const std::size_t head_end = std::min(row.stats.head_tokens - 1, row.ids.size());
  for (std::size_t slot = 0; slot < row.markers.size(); ++slot) {
    const auto start = static_cast<std::size_t>(row.markers[slot]);
    const std::size_t end =
        slot + 1 < row.markers.size() ? static_cast<std::size_t>(row.markers[slot + 1]) : head_end;
    const std::size_t option = question.option_order.empty() ? slot : question.option_order[slot];
    JsonValue span = JsonValue::object();
    span.set("option", count(option));
    span.set("text", JsonValue::string(question.options[option]));
    span.set("start", count(start));
    span.set("end", count(end));
    span.set("read_as", JsonValue::string(
                            tokens.decode(std::span(row.ids).subspan(start + 1, end - start - 1))));
    out.push_back(std::move(span));
  }
  return out;
}

JsonValue cut_json(const PromptRow& row) {
  const decision::PromptStats& stats = row.stats;
  JsonValue out = JsonValue::object();
  out.set("state_tokens", count(stats.state_tokens));
  out.set("state_tokens_dropped", count(stats.state_tokens_dropped()));
  out.set("instruction_tokens_dropped", count(stats.instruction_tokens_dropped));
  out.set("tokens_per_option", stats.tokens_per_option.has_value() ? count(*stats.tokens_per_option)
                                                                   : JsonValue::null());
  out.set("options_distinct", count(stats.options_distinct));
  out.set("options", count(stats.options));
  return out;
}

JsonValue row_json(const Question& question, const PromptRow& row,
                   const tokenizer::Tokenizer& tokens) {
  JsonValue ids = JsonValue::array();
  JsonValue texts = JsonValue::array();
  for (const std::int32_t id : row.ids) {
    ids.push_back(JsonValue::integer(id));
    texts.push_back(JsonValue::string(std::string(tokens.id_to_token(id))));
  }
  JsonValue markers = JsonValue::array();
  for (const std::int32_t marker : row.markers) markers.push_back(JsonValue::integer(marker));
  JsonValue out = JsonValue::object();
  out.set("type", JsonValue::string(std::string(to_string(question.type))));
  out.set("head", JsonValue::string(std::string(to_string(question.type)) +
                                    " question: " + question.instructions));
  out.set("text", JsonValue::string(tokens.decode(row.ids)));
  out.set("length", count(row.ids.size()));
  out.set("input_ids", std::move(ids));
  out.set("tokens", std::move(texts));
  out.set("markers", std::move(markers));
  out.set("option_spans", spans_json(question, row, tokens));
  out.set("cut", cut_json(row));
  return out;
}

}  // namespace

std::string render(const QuestionSet& questions, const PreparedRequest& prepared,
                   const tokenizer::Tokenizer& tokens, const CodecOptions& codec) {
  JsonValue by_question = JsonValue::object();
  for (std::size_t i = 0; i < questions.questions.size(); ++i) {
    const Question& question = questions.questions[i];
    if (prepared.passes.size() == 1) {
      by_question.set(question.id, row_json(question, prepared.passes[0][i], tokens));
      continue;
    }
    JsonValue windows = JsonValue::array();
    for (const auto& pass : prepared.passes) windows.push_back(row_json(question, pass[i], tokens));
    by_question.set(question.id, std::move(windows));
  }
  JsonValue root = JsonValue::object();
  root.set("questions", std::move(by_question));
  if (!prepared.warnings.empty()) {
    JsonValue warnings = JsonValue::array();
    for (const std::string& warning : prepared.warnings)
      warnings.push_back(JsonValue::string(warning));
    root.set("warnings", std::move(warnings));
  }
  return write_json(root, json_style(codec.layout));
}

}  // namespace layard::runtime
