#include "gateway/guard_message.h"

#include <charconv>

namespace layard::gateway {
namespace {

struct Form {
  GuardWord word;
  std::string_view text;
  bool has_value;
};

constexpr Form kForms[] = {
    {GuardWord::kStop, "stop", false},         {GuardWord::kKill, "kill", false},
    {GuardWord::kStarted, "started", true},    {GuardWord::kExited, "exited", true},
    {GuardWord::kSignaled, "signaled", true},  {GuardWord::kFailed, "failed", true},
    {GuardWord::kNoFolder, "no-folder", true},
};

}  // namespace

std::string write_guard_message(const GuardMessage& message) {
  for (const Form& form : kForms) {
    if (form.word != message.word) continue;
    std::string text(form.text);
    return form.has_value ? text + " " + std::to_string(message.value) : text;
  }
  return {};
}

std::optional<GuardMessage> read_guard_message(std::string_view text) {
  if (text.size() > kGuardMessageBytesMax) return std::nullopt;
  const std::size_t blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  const bool has_value = blank != std::string_view::npos;
  for (const Form& form : kForms) {
    if (form.text != word || form.has_value != has_value) continue;
    if (!has_value) return GuardMessage{form.word, 0};
    const std::string_view digits = text.substr(blank + 1);
    int value = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
    return GuardMessage{form.word, value};
  }
  return std::nullopt;
}

}  // namespace layard::gateway
