#include "gateway/route_confusion.h"

#include <algorithm>

#include "base/json.h"

namespace layard::gateway {
namespace {

using base::JsonMember;
using base::JsonValue;

constexpr double kCountMax = 1e15;

}  // namespace

double Confusion::taken(std::string_view label, std::string_view answer) const {
  const auto row = std::ranges::find(rows, label, &Row::label);
  double all = 0;
  double found = 0;
  if (row != rows.end()) {
    for (const Answer& one : row->answers) {
      all += one.count;
      if (one.name == answer) found += one.count;
    }
  }
  if (all > 0) return found / all;
  return label == answer ? 1 : 0;
}

Result<Confusion> parse_confusion(std::string_view text, const std::string& source) {
  const auto refused = [&](const std::string& what) {
    return Error{ErrorCode::kInvalidRequest, "confusion: " + what + " in " + source};
  };
  const auto root = base::parse_json(text, {.bytes_max = kConfusionBytesMax});
  if (!root.ok()) return refused(root.error().message);
  const JsonValue* inner = root->find("confusion");
  const JsonValue& rows = inner == nullptr ? *root : *inner;
  if (!rows.is_object() || rows.size() > kConfusionNamesMax) {
    return refused("must be an object of at most 256 labels, each with counts of its answers");
  }
  Confusion out;
  for (const JsonMember& row : rows.members()) {
    const std::string name = base::quote_json(row.key.substr(0, 64));
    if (!row.value.is_object() || row.value.size() > kConfusionNamesMax) {
      return refused(name + " must be an object of at most 256 answers and their counts");
    }
    Confusion::Row& into = out.rows.emplace_back();
    into.label = row.key;
    for (const JsonMember& answer : row.value.members()) {
      const double count = answer.value.as_double();
      if (!answer.value.is_number() || !(count >= 0 && count <= kCountMax)) {
        return refused("a count of " + name + " must be a number from 0");
      }
      into.answers.push_back({answer.key, count});
    }
  }
  return out;
}

}  // namespace layard::gateway
