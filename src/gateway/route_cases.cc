#include "gateway/route_cases.h"

#include <algorithm>
#include <cstdint>

#include "base/json.h"
#include "gateway/route_policy.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

Error at(const std::string& where, const std::string& text) {
  return {ErrorCode::kInvalidRequest, where + ": " + text};
}

std::string text_of(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  return member != nullptr && member->is_string() ? member->text() : std::string();
}

Result<RouteCase> read_case(const JsonValue& value, const std::string& where,
                            const std::vector<std::string>& classes) {
  if (!value.is_object()) return at(where, "must be an object with \"class\" and \"text\"");
  for (const char* name : {"class", "text"}) {
    const JsonValue* member = value.find(name);
    if (member == nullptr || !member->is_string()) {
      return at(where, std::string("needs a text as \"") + name + "\"");
    }
  }
  RouteCase one{text_of(value, "class"), text_of(value, "text"), text_of(value, "language"),
                text_of(value, "source")};
  if (std::ranges::find(classes, one.class_name) == classes.end()) {
    return at(where, "class " + base::quote_json(one.class_name) +
                         " is none of the policy's: " + listed(classes));
  }
  return one;
}

Result<std::vector<RouteCase>> read_lines(std::string_view text,
                                          const std::vector<std::string>& classes) {
  std::vector<RouteCase> cases;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const std::string where = "line " + std::to_string(number);
    const auto value = base::parse_json(line, {});
    if (!value.ok()) return at(where, value.error().message);
    LAYARD_ASSIGN(RouteCase one, read_case(*value, where, classes));
    cases.push_back(std::move(one));
    if (cases.size() > kCasesMax) return at(where, "more than 100,000 cases");
  }
  return cases;
}

}  // namespace

Result<std::vector<RouteCase>> parse_route_cases(std::string_view text,
                                                 const std::vector<std::string>& classes) {
  std::vector<RouteCase> cases;
  const auto root = base::parse_json(text, {});
  if (root.ok() && root->is_object() && root->find("cases") != nullptr) {
    const JsonValue& list = *root->find("cases");
    if (!list.is_array() || list.size() > kCasesMax) {
      return at("cases", "must be a list of at most 100,000 labelled requests");
    }
    for (const JsonValue& value : list.items()) {
      LAYARD_ASSIGN(RouteCase one,
                    read_case(value, "cases[" + std::to_string(cases.size()) + "]", classes));
      cases.push_back(std::move(one));
    }
  } else {
    LAYARD_ASSIGN(cases, read_lines(text, classes));
  }
  if (cases.empty()) return at("cases", "there is none");
  return cases;
}

std::string with_typos(std::string_view text) {
  constexpr std::size_t kWordLetters = 4;
  constexpr std::uint32_t kEvery = 8;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string out(text);
  std::uint32_t hash = 2166136261U;  // FNV-1a of what was passed
  std::size_t first_word = out.size();
  bool changed = false;
  const auto swap_at = [&](std::size_t begin) { std::swap(out[begin + 1], out[begin + 2]); };
  for (std::size_t i = 0; i < out.size();) {
    std::size_t end = i;
    while (end < out.size() && is_letter(out[end])) {
      hash = (hash ^ static_cast<unsigned char>(out[end])) * 16777619U;
      ++end;
    }
    if (end - i >= kWordLetters && out[i + 1] != out[i + 2]) {
      if (first_word == out.size()) first_word = i;
      if ((hash >> 16U) % kEvery == 0) {
        swap_at(i);
        changed = true;
      }
    }
    i = std::max(end, i + 1);
  }
  if (!changed && first_word < out.size()) swap_at(first_word);
  return out;
}

}  // namespace layard::gateway
