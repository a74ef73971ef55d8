#include <algorithm>

#include "base/json.h"
#include "base/number_text.h"
#include "gateway/route_eval.h"

namespace layard::gateway {
namespace {

using base::fixed;
using base::JsonValue;
using base::right_aligned;

std::string percent_of(const Share& share) {
  return fixed(share.percent(), 1) + "% (" + std::to_string(share.right) + "/" +
         std::to_string(share.all) + ")";
}

std::string confusion_table(const RouteEvaluation& evaluation) {
  std::size_t width = 5;
  for (const std::string& name : evaluation.classes) width = std::max(width, name.size());
  width += 2;
  std::string out = "confusion (rows: label, columns: answer)\n" + std::string(width, ' ');
  for (const std::string& name : evaluation.classes) out += right_aligned(name, width);
  for (std::size_t label = 0; label < evaluation.classes.size(); ++label) {
    std::string name = evaluation.classes[label];
    name.resize(width, ' ');
    out += "\n" + name;
    for (const std::size_t count : evaluation.confusion[label]) {
      out += right_aligned(std::to_string(count), width);
    }
  }
  return out + "\n";
}

std::string named_line(const char* title, const std::vector<NamedShare>& list) {
  if (list.empty()) return "";
  std::string out = title;
  for (const NamedShare& one : list) out += "  " + one.name + " " + percent_of(one.share);
  return out + "\n";
}

std::string quarters_line(const char* title, const std::vector<Share>& quarters) {
  std::string out = title;
  for (const Share& quarter : quarters) out += "  " + percent_of(quarter);
  return out + "\n";
}

JsonValue share_json(const Share& share) {
  JsonValue out = JsonValue::object();
  out.set("right", JsonValue::integer(static_cast<std::int64_t>(share.right)));
  out.set("all", JsonValue::integer(static_cast<std::int64_t>(share.all)));
  return out;
}

JsonValue flips_json(const Share& share) {
  JsonValue out = JsonValue::object();
  out.set("changed", JsonValue::integer(static_cast<std::int64_t>(share.right)));
  out.set("all", JsonValue::integer(static_cast<std::int64_t>(share.all)));
  return out;
}

JsonValue named_json(const std::vector<NamedShare>& list) {
  JsonValue out = JsonValue::object();
  for (const NamedShare& one : list) out.set(one.name, share_json(one.share));
  return out;
}

JsonValue quarters_json(const std::vector<Share>& quarters) {
  JsonValue out = JsonValue::array();
  for (const Share& quarter : quarters) out.push_back(share_json(quarter));
  return out;
}

JsonValue confusion_json(const RouteEvaluation& evaluation) {
  JsonValue out = JsonValue::object();
  for (std::size_t label = 0; label < evaluation.classes.size(); ++label) {
    JsonValue row = JsonValue::object();
    for (std::size_t answer = 0; answer < evaluation.classes.size(); ++answer) {
      const auto count = static_cast<std::int64_t>(evaluation.confusion[label][answer]);
      row.set(evaluation.classes[answer], JsonValue::integer(count));
    }
    out.set(evaluation.classes[label], std::move(row));
  }
  return out;
}

}  // namespace

std::string print_route_evaluation(const RouteEvaluation& evaluation) {
  std::string out = "accuracy " + percent_of(evaluation.all) + "\n";
  out += "decided by the model " + percent_of(evaluation.by_model) + ", by size " +
         percent_of(evaluation.by_size) + "\n";
  out += confusion_table(evaluation);
  out += named_line("languages", evaluation.languages);
  out += named_line("sources", evaluation.sources);
  out += named_line("characters", evaluation.lengths);
  out += quarters_line("quarters by confidence, the least first", evaluation.quarters);
  out += quarters_line("of those the model decided", evaluation.quarters_by_model);
  out += "below the policy's min_confidence " + std::to_string(evaluation.below_threshold) +
         ", calibration error " + fixed(evaluation.calibration_error, 3) + "\n";
  out += "changed answers: with typos " + percent_of(evaluation.typo_flips) +
         ", with the options reversed " + percent_of(evaluation.order_flips) + "\n";
  out += "ms per decision " + fixed(evaluation.ms_all, 1) + ", where the model decided " +
         fixed(evaluation.ms_by_model, 1) + " (median " + fixed(evaluation.ms_by_model_median, 1) +
         ")\n";
  return out;
}

std::string route_evaluation_json(const RouteEvaluation& evaluation) {
  JsonValue out = JsonValue::object();
  out.set("accuracy", JsonValue::real(evaluation.all.percent() / 100));
  out.set("all", share_json(evaluation.all));
  out.set("by_model", share_json(evaluation.by_model));
  out.set("by_size", share_json(evaluation.by_size));
  out.set("confusion", confusion_json(evaluation));
  out.set("languages", named_json(evaluation.languages));
  out.set("sources", named_json(evaluation.sources));
  out.set("lengths", named_json(evaluation.lengths));
  out.set("quarters", quarters_json(evaluation.quarters));
  out.set("quarters_by_model", quarters_json(evaluation.quarters_by_model));
  out.set("below_threshold",
          JsonValue::integer(static_cast<std::int64_t>(evaluation.below_threshold)));
  out.set("calibration_error", JsonValue::real(evaluation.calibration_error));
  out.set("typo_flips", flips_json(evaluation.typo_flips));
  out.set("order_flips", flips_json(evaluation.order_flips));
  out.set("ms_all", JsonValue::real(evaluation.ms_all));
  out.set("ms_by_model", JsonValue::real(evaluation.ms_by_model));
  out.set("ms_by_model_median", JsonValue::real(evaluation.ms_by_model_median));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::gateway
