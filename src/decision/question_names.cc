#include <algorithm>
#include <array>
#include <utility>

#include "layard/question.h"

namespace layard {
namespace {

constexpr std::array<std::string_view, 3> kTypes = {"choice", "score", "noul"};
constexpr std::array<std::string_view, 3> kPolicies = {"cut", "error", "windows"};

template <class Enum>
std::optional<Enum> find_name(const std::array<std::string_view, 3>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view to_string(QuestionType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<QuestionType> question_type_from_string(std::string_view name) {
  return find_name<QuestionType>(kTypes, name);
}

std::string_view to_string(OverflowPolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

std::optional<OverflowPolicy> overflow_policy_from_string(std::string_view name) {
  return find_name<OverflowPolicy>(kPolicies, name);
}

}  // namespace layard
