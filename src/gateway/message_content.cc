#include "gateway/message_content.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/sha256.h"
#include "gateway/body_tree.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

// Equal for equal values, without a second copy of what may be megabytes. As deep as bodies are.
void hash_value(const JsonValue& value, base::Sha256& hash) {
  hash.update(std::to_string(static_cast<int>(value.kind())) +
              (value.is_bool() && value.as_bool() ? "t" : ""));
  hash.update(std::to_string(value.text().size() + value.size()) + ":");
  hash.update(value.text());
  for (const JsonValue& item : value.items()) hash_value(item, hash);
  for (const auto& [name, member] : value.members()) {
    hash.update(std::to_string(name.size()) + ":" + name);
    hash_value(member, hash);
  }
}

constexpr std::string_view kSpaces = " \t\r\n";

constexpr std::array<std::string_view, 3> kTextTypes = {"text", "input_text", "output_text"};
constexpr std::array<std::string_view, 11> kMediaTypes = {
    "image_url", "input_image", "image",     "file",  "input_file", "document",
    "audio",     "input_audio", "video_url", "video", "image_file"};

// Blocks that Claude Code, Codex and Cline put into users' messages.
constexpr std::array<std::string_view, 11> kReminders = {
    "system-reminder",      "environment_context", "environment_details", "user_instructions",
    "INSTRUCTIONS",         "skills_instructions", "turn_aborted",        "local-command-caveat",
    "local-command-stdout", "ide_opened_file",     "ide_selection"};
// The line that Codex puts before a block of INSTRUCTIONS.
constexpr std::string_view kInstructionsHeading = "# AGENTS.md instructions for ";

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view text_member(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is_string() ? std::string_view(value->text()) : "";
}

class ContentReader {
 public:
  explicit ContentReader(const ContentWish& wish) : wish_(wish) {}

  Status read(const JsonValue& content, const std::string& where) {
    if (content.is_null()) return {};
    if (content.is_string()) {
      append_line(out_.text, content.text());
      return {};
    }
    if (!content.is_array()) return wrong_kind(where, "a string, a list of parts or null", content);
    const auto parts = content.items();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      LAYARD_TRY(read_part(parts[i], [&] { return where + "[" + std::to_string(i) + "]"; }));
    }
    return {};
  }

  MessageContent take() { return std::move(out_); }

 private:
  template <class Where>
  Status read_part(const JsonValue& part, const Where& where) {
    if (part.is_string()) {
      append_line(out_.text, part.text());
      return {};
    }
    if (!part.is_object()) return wrong_kind(where(), "an object", part);
    const std::string_view type = text_member(part, "type");
    if (type.empty() || is_one_of(type, kTextTypes)) {
      const JsonValue* text = part.find("text");
      if (text == nullptr || text->is_null()) return {};
      if (!text->is_string()) return wrong_kind(where() + ".text", "a string", *text);
      append_line(out_.text, text->text());
    } else if (type == "tool_result") {
      return read_tool_result(part, where);
    } else if (is_one_of(type, kMediaTypes)) {
      read_media(part, type);
    }
    return {};
  }

  template <class Where>
  Status read_tool_result(const JsonValue& part, const Where& where) {
    out_.has_tool_results = true;
    const JsonValue* content = part.find("content");
    if (content == nullptr || in_tool_result_) return {};
    in_tool_result_ = true;
    std::string kept;
    if (!wish_.tool_texts) kept = std::move(out_.text);
    const Status status = read(*content, where() + ".content");
    if (!wish_.tool_texts) out_.text = std::move(kept);
    in_tool_result_ = false;
    return status;
  }

  void read_media(const JsonValue& part, std::string_view type) {
    const JsonValue* source = part.find("source");
    if (type == "document" && source != nullptr && text_member(*source, "type") == "text") {
      append_line(out_.text, text_member(*source, "data"));
      return;
    }
    out_.has_media = true;
    if (!wish_.media_marks) return;
    base::Sha256 hash;
    hash_value(part, hash);
    append_line(out_.text, "[" + std::string(type) + " " + hash.hex() + "]");
  }

  ContentWish wish_;
  MessageContent out_;
  bool in_tool_result_ = false;
};

// Takes blocks out of a text, from its begin to its end.
class ReminderCutter {
 public:
  explicit ReminderCutter(std::string_view text) : text_(text) {}

  std::string run() {
    std::size_t at = 0;  // where a line begins, or what follows a block
    while (at < text_.size()) {
      const std::size_t block = std::min(text_.find_first_not_of(" \t", at), text_.size());
      const std::size_t end = end_of_block(block);
      if (end != std::string_view::npos) {
        out_ += text_.substr(kept_to_, at - kept_to_);
        kept_to_ = at = end;
        continue;
      }
      at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
    }
    if (kept_to_ == 0) return std::string(text_);
    out_ += text_.substr(kept_to_);
    return trimmed();
  }

 private:
  // The end of the block that begins at `begin`, or npos.
  std::size_t end_of_block(std::size_t begin) {
    const std::string_view rest = text_.substr(begin);
    if (!rest.starts_with('<')) return std::string_view::npos;
    for (std::size_t i = 0; i < kReminders.size(); ++i) {
      const std::string_view name = kReminders[i];
      const bool opens = rest.size() > name.size() + 1 && rest.substr(1, name.size()) == name &&
                         rest[name.size() + 1] == '>';
      if (!opens || unclosed_[i]) continue;
      const std::string closing = "</" + std::string(name) + ">";
      const std::size_t end = text_.find(closing, begin);
      if (end != std::string_view::npos) return end + closing.size();
      unclosed_[i] = true;  // nor is any later one
    }
    return std::string_view::npos;
  }

  std::string trimmed() const {
    const std::size_t begin = out_.find_first_not_of(kSpaces);
    if (begin == std::string::npos) return {};
    std::string rest = out_.substr(begin, out_.find_last_not_of(kSpaces) + 1 - begin);
    const bool only_heading =
        rest.starts_with(kInstructionsHeading) && rest.find('\n') == std::string::npos;
    return only_heading ? std::string() : rest;
  }

  std::string_view text_;
  std::string out_;
  std::size_t kept_to_ = 0;
  std::array<bool, kReminders.size()> unclosed_{};
};

}  // namespace

Result<MessageContent> read_content(const JsonValue& content, const std::string& where,
                                    const ContentWish& wish) {
  ContentReader reader(wish);
  LAYARD_TRY(reader.read(content, where));
  return reader.take();
}

std::string without_reminders(std::string_view text) { return ReminderCutter(text).run(); }

std::string without_billing_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!text.starts_with("x-anthropic-billing-header:")) out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kSpaces) == std::string_view::npos;
}

void append_line(std::string& out, std::string_view text) {
  if (!out.empty() && !text.empty()) out += '\n';
  out += text;
}

}  // namespace layard::gateway
