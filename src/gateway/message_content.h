/// What the content of one chat message says, in every form that clients send.
///
/// Source: OpenAI's API (Chat Completions and Responses) and Anthropic's (Messages), parts of a
/// content. Thread-safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace layard::gateway {

struct ContentWish {
  /// Images and other files stand in the text as `[TYPE SHA-256]`, so that texts which differ in
  /// them differ.
  bool media_marks = false;
  /// Texts of tools' results are text as well.
  bool tool_texts = false;
};

struct MessageContent {
  std::string text;        ///< of all parts, with a line end between
  bool has_media = false;  ///< images, audio, files: what a model of text alone cannot read
  bool has_tool_results = false;
};

/// Reads a content as body_tree.h keeps it: a string, a list of parts, or null.
/// Parts of type text, input_text and output_text, and strings, are text, and so is a document
/// whose source is text; images, audio and files are media; others say nothing.
/// `where` names the content in errors.
/// Errors: kInvalidRequest: the content, a part or a part's text is of another type.
Result<MessageContent> read_content(const base::JsonValue& content, const std::string& where,
                                    const ContentWish& wish);

/// A user's text without the blocks that programs put into it, such as
/// `<system-reminder>...</system-reminder>`. A block begins a line and is closed; after one was
/// taken out, white space at both ends goes too. A text without blocks comes back as it is.
/// Bounds: time is linear in the text.
std::string without_reminders(std::string_view text);

/// A system text without the lines that Claude Code writes anew for each request
/// (`x-anthropic-billing-header: ...`), which would make each turn a conversation of its own.
std::string without_billing_lines(std::string_view text);

/// Whether a text has nothing but white space.
bool is_blank(std::string_view text);

/// Appends `text` to `out`, with a line end between unless one of them is empty.
void append_line(std::string& out, std::string_view text);

}  // namespace layard::gateway
