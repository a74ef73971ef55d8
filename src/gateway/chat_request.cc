#include "gateway/chat_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checks.h"
#include "base/utf8.h"
#include "gateway/body_tree.h"
#include "gateway/message_content.h"
#include "gateway/model_scanner.h"

namespace layard::gateway {
namespace {

using base::JsonValue;
using Names = std::span<const std::string_view>;

// The members that are read.
constexpr std::array<std::string_view, 7> kChatMembers = {
    "model", "stream", "messages", "tools", "functions", "max_tokens", "max_completion_tokens"};
constexpr std::array<std::string_view, 4> kCompletionMembers = {"model", "stream", "prompt",
                                                                "max_tokens"};
constexpr std::array<std::string_view, 6> kResponseMembers = {
    "model", "stream", "input", "instructions", "tools", "max_output_tokens"};
constexpr std::array<std::string_view, 1> kEmbeddingMembers = {"model"};
constexpr std::array<std::string_view, 6> kAnthropicMembers = {"model",  "stream", "messages",
                                                               "system", "tools",  "max_tokens"};
// The one that is said first counts.
constexpr std::array<std::string_view, 3> kOutputLimits = {"max_completion_tokens", "max_tokens",
                                                           "max_output_tokens"};

Names members_of(Api api) {
  switch (api) {
    case Api::kChatCompletions:
      return kChatMembers;
    case Api::kCompletions:
      return kCompletionMembers;
    case Api::kResponses:
      return kResponseMembers;
    case Api::kEmbeddings:
      return kEmbeddingMembers;
    default:
      return kAnthropicMembers;
  }
}

// The member, or null where it is absent or null.
const JsonValue* given(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string_view string_of(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is_string() ? std::string_view(value->text()) : "";
}

std::vector<ModelRange> find_models(std::string_view body) {
  ModelScanner scanner(ModelPlaces::kTop);
  std::vector<ModelRange> ranges;
  for (std::size_t at = 0; at < body.size();) {
    const ModelScanner::Step step = scanner.scan(body.substr(at));
    at += step.bytes;
    if (step.found == ModelScanner::Found::kBegin) ranges.push_back({at - 1, at});
    if (step.found == ModelScanner::Found::kEnd) ranges.back().end = at;
  }
  return ranges;
}

// Collects what messages say, one after the other.
class MessageReader {
 public:
  MessageReader(GateScope scope, ChatRequest& out) : scope_(scope), out_(out) {}

  /// A message's content under its role. `where` names the content in errors.
  Status take(std::string_view role, const JsonValue& content, const std::string& where) {
    const bool all = scope_ == GateScope::kAll;
    LAYARD_ASSIGN(MessageContent read,
                  read_content(content, where, {.media_marks = false, .tool_texts = all}));
    out_.has_images |= read.has_media;
    if (role == "user") return take_user(content, where, std::move(read));
    if (role == "system" || role == "developer") {
      read.text = without_billing_lines(read.text);
      append_line(out_.system, read.text);
    }
    if (all || (scope_ == GateScope::kHead && !asked_)) append_line(out_.text, read.text);
    return {};
  }

  /// A tool's result that is no message.
  Status take_tool(const JsonValue& output, const std::string& where) {
    return take("tool", output, where);
  }

 private:
  Status take_user(const JsonValue& content, const std::string& where, MessageContent read) {
    const std::string text = without_reminders(read.text);
    const bool says = !is_blank(text);
    // With results of tools the message is a program's, unless there is text of its own.
    const bool human = says_something_human(content, where, read, says);
    if (!opened_ && (human || !read.has_tool_results)) {
      LAYARD_ASSIGN(const MessageContent marked,
                    read_content(content, where, {.media_marks = true, .tool_texts = false}));
      append_line(out_.first_user, marked.text);
    }
    opened_ |= human;
    out_.turns += human ? 1 : 0;
    const bool wanted = scope_ == GateScope::kAll || !asked_;
    if (says && wanted) append_line(out_.text, text);
    asked_ |= says && human;
    return {};
  }

  bool says_something_human(const JsonValue& content, const std::string& where,
                            const MessageContent& read, bool says) const {
    if (!read.has_tool_results) return says || read.has_media;
    if (scope_ != GateScope::kAll) return says;
    // Then the text has those of tools in it.
    const auto own = read_content(content, where, ContentWish());
    return own.ok() && !is_blank(without_reminders(own->text));
  }

  GateScope scope_;
  ChatRequest& out_;
  bool opened_ = false;  // a human's message was seen
  bool asked_ = false;   // and one with text
};

Status read_messages(const JsonValue& tree, MessageReader& reader) {
  const JsonValue* messages = tree.find("messages");
  if (messages == nullptr) {
    return Error{ErrorCode::kInvalidRequest, "messages must be a list; it is missing"};
  }
  if (!messages->is_array()) return wrong_kind("messages", "a list", *messages);
  const auto items = messages->items();
  const JsonValue none;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = "messages[" + std::to_string(i) + "]";
    if (!items[i].is_object()) return wrong_kind(where, "an object", items[i]);
    const JsonValue* content = items[i].find("content");
    LAYARD_TRY(reader.take(string_of(items[i], "role"), content == nullptr ? none : *content,
                           where + ".content"));
  }
  return {};
}

Status read_input(const JsonValue& tree, MessageReader& reader) {
  const JsonValue* input = given(tree, "input");
  if (input == nullptr) return {};
  if (input->is_string()) return reader.take("user", *input, "input");
  if (!input->is_array()) return wrong_kind("input", "a string or a list", *input);
  const auto items = input->items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = "input[" + std::to_string(i) + "]";
    if (!items[i].is_object()) return wrong_kind(where, "an object", items[i]);
    const std::string_view type = string_of(items[i], "type");
    const JsonValue* content = given(items[i], "content");
    const JsonValue* output = given(items[i], "output");
    if ((type.empty() || type == "message") && content != nullptr) {
      LAYARD_TRY(reader.take(string_of(items[i], "role"), *content, where + ".content"));
    } else if (type.ends_with("_call_output") && output != nullptr && !output->is_object()) {
      LAYARD_TRY(reader.take_tool(*output, where + ".output"));
    }
  }
  return {};
}

// A prompt of tokens has no text.
Status read_prompt(const JsonValue& tree, MessageReader& reader) {
  const JsonValue* prompt = given(tree, "prompt");
  if (prompt == nullptr) return {};
  if (!prompt->is_string() && !prompt->is_array()) {
    return wrong_kind("prompt", "a string or a list", *prompt);
  }
  std::string text;
  if (prompt->is_string()) text = prompt->text();
  for (const JsonValue& item : prompt->items()) {
    if (item.is_string()) append_line(text, item.text());
  }
  return reader.take("user", JsonValue::string(std::move(text)), "prompt");
}

Status read_system(const JsonValue& tree, std::string_view name, MessageReader& reader) {
  const JsonValue* value = given(tree, name);
  return value == nullptr ? Status() : reader.take("system", *value, std::string(name));
}

Status read_tools(const JsonValue& tree, ChatRequest& out) {
  for (const std::string_view name : {"tools", "functions"}) {
    const JsonValue* tools = given(tree, name);
    if (tools == nullptr) continue;
    if (!tools->is_array()) return wrong_kind(name, "a list", *tools);
    out.has_tools |= tools->size() > 0;
    for (const JsonValue& tool : tools->items()) {
      std::string_view found = string_of(tool, "name");
      for (const std::string_view form : {"function", "custom"}) {
        const JsonValue* inner = tool.find(form);
        if (found.empty() && inner != nullptr) found = string_of(*inner, "name");
      }
      if (found.empty()) found = string_of(tool, "type");  // a tool of the server's own
      if (!found.empty()) out.tools.emplace_back(found);
    }
  }
  std::ranges::sort(out.tools);
  out.tools.erase(std::unique(out.tools.begin(), out.tools.end()), out.tools.end());
  return {};
}

Status read_settings(const JsonValue& tree, ChatRequest& out) {
  out.model = string_of(tree, "model");
  if (const JsonValue* stream = given(tree, "stream")) {
    if (!stream->is_bool()) return wrong_kind("stream", "true or false", *stream);
    out.stream = stream->as_bool();
  }
  for (const std::string_view name : kOutputLimits) {
    const JsonValue* limit = given(tree, name);
    if (limit == nullptr) continue;
    const auto tokens = limit->as_int64();
    if (tokens && *tokens >= 0) out.output_tokens_max = *tokens;
    break;
  }
  return read_tools(tree, out);
}

Status read_texts(const JsonValue& tree, GateScope scope, ChatRequest& out) {
  MessageReader reader(scope, out);
  switch (out.api) {
    case Api::kEmbeddings:
      return {};
    case Api::kCompletions:
      return read_prompt(tree, reader);
    case Api::kResponses:
      LAYARD_TRY(read_system(tree, "instructions", reader));
      return read_input(tree, reader);
    default:
      LAYARD_TRY(read_system(tree, "system", reader));
      return read_messages(tree, reader);
  }
}

}  // namespace

Result<ChatRequest> read_chat_request(Api api, std::string_view body, const ReadOptions& options) {
  LAYARD_CHECK(options.max_chars >= 0);
  LAYARD_ASSIGN(const JsonValue tree, read_body_tree(body, members_of(api)));
  ChatRequest out;
  out.api = api;
  LAYARD_TRY(read_settings(tree, out));
  LAYARD_TRY(read_texts(tree, options.scope, out));
  out.model_ranges = find_models(body);
  out.text_bytes = out.text.size();
  out.text_chars = base::count_code_points(out.text);
  out.text = both_ends(out.text, out.text_chars, options.max_chars);
  return out;
}

std::string with_model(std::string_view body, std::span<const ModelRange> ranges,
                       std::string_view model) {
  const std::string quoted = base::quote_json(model);
  std::string out;
  out.reserve(body.size() + ranges.size() * quoted.size());
  std::size_t kept_to = 0;
  for (const ModelRange& range : ranges) {
    LAYARD_CHECK(kept_to <= range.begin && range.begin < range.end && range.end <= body.size());
    out += body.substr(kept_to, range.begin - kept_to);
    out += quoted;
    kept_to = range.end;
  }
  out += body.substr(kept_to);
  return out;
}

std::string both_ends(std::string_view text, std::size_t text_chars, std::int64_t max_chars) {
  if (max_chars == 0 || std::cmp_less_equal(text_chars, max_chars)) return std::string(text);
  const auto is_first_byte = [](char byte) {
    return (static_cast<unsigned char>(byte) >> 6U) != 2;
  };
  const std::int64_t tail_chars = max_chars / 2;
  // The byte where the character after so many begins.
  std::size_t head_end = 0;
  for (std::int64_t left = max_chars - tail_chars; head_end < text.size(); ++head_end) {
    if (is_first_byte(text[head_end]) && left-- == 0) break;
  }
  std::size_t tail_begin = text.size();
  for (std::int64_t left = tail_chars; left > 0 && tail_begin > head_end;) {
    left -= is_first_byte(text[--tail_begin]) ? 1 : 0;
  }
  std::string out(text.substr(0, head_end));
  out += "\n\xE2\x80\xA6\n";
  out += text.substr(tail_begin);
  return out;
}

}  // namespace layard::gateway
