/// Reference outputs recorded from a model itself, to be compared with what it gives later.
#pragma once

#include <string>

#include "base/json.h"
#include "layard/model.h"

namespace layard::testing {

/// What is added to the first logit, and to the first probability of the act head.
struct GoldenChange {
  double logit = 0;
  double act = 0;
};

inline base::JsonValue with_first_changed(const base::JsonValue& numbers, double change) {
  base::JsonValue out = base::JsonValue::array();
  for (const base::JsonValue& number : numbers.items()) {
    out.push_back(base::JsonValue::real(number.as_double() + (out.size() == 0 ? change : 0.0)));
  }
  return out;
}

/// A line of goldens.jsonl of one row: a noul question about `state`.
inline std::string own_golden(Model& model, const std::string& name, const std::string& state,
                              const GoldenChange& change) {
  constexpr const char* kQuestions = R"(["Is it?"])";
  PredictOptions raw;
  raw.raw = true;
  const auto json = model.predict_json(state, kQuestions, {}, raw);
  const auto root = base::parse_json(*json, {});
  base::JsonValue row = *root->find("rows")->find("Is it?");
  row.set("type", base::JsonValue::integer(2));
  row.set("logits", with_first_changed(*row.find("logits"), change.logit));
  row.set("act", with_first_changed(*row.find("act"), change.act));
  base::JsonValue rows = base::JsonValue::array();
  rows.push_back(std::move(row));
  base::JsonValue line = base::JsonValue::object();
  line.set("name", base::JsonValue::string(name));
  line.set("state", base::JsonValue::string(state));
  line.set("questions", *base::parse_json(kQuestions, {}));
  line.set("rows", std::move(rows));
  return write_json(line, base::JsonStyle::kCompact) + "\n";
}

}  // namespace layard::testing
