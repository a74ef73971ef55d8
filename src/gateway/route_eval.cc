#include "gateway/route_eval.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/clock.h"
#include "base/utf8.h"
#include "layard/evaluation.h"

namespace layard::gateway {
namespace {

constexpr std::size_t kQuarters = 4;
constexpr std::size_t kBins = 10;
// Texts of one batch: bounds the memory of a shared forward pass.
constexpr std::size_t kBatch = 32;

struct LengthBand {
  const char* name;
  std::size_t code_points_max;
};
// Fragments, one line, a few lines, up to the seed's gate, beyond it.
constexpr std::array kLengthBands = {LengthBand{"0-24", 24}, LengthBand{"25-69", 69},
                                     LengthBand{"70-199", 199}, LengthBand{"200-1023", 1023},
                                     LengthBand{"1024-", SIZE_MAX}};

struct Judged {
  double confidence = 0;
  double probability = 0;  // of the answer
  bool right = false;
  bool by_size = false;
};

void add_named(std::vector<NamedShare>& list, const std::string& name, bool right) {
  if (name.empty()) return;
  auto found = std::ranges::find(list, name, &NamedShare::name);
  if (found == list.end()) found = list.insert(list.end(), {name, {}});
  found->share.add(right);
}

// By (confidence, right), as the seed's evaluation sorts them.
std::vector<Share> quarters_of(std::vector<Judged> judged) {
  std::ranges::sort(judged, [](const Judged& a, const Judged& b) {
    return std::pair(a.confidence, a.right) < std::pair(b.confidence, b.right);
  });
  std::vector<Share> quarters(kQuarters);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    quarters[i * kQuarters / judged.size()].add(judged[i].right);
  }
  return quarters;
}

double probability_error(const std::vector<Judged>& judged) {
  std::vector<JudgedAnswer> answers;
  answers.reserve(judged.size());
  for (const Judged& one : judged) answers.push_back({one.probability, one.right});
  return calibration_error(reliability_bins(answers, kBins));
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// One run over the cases.
class Evaluator {
 public:
  Evaluator(const RoutePolicy& policy, const RequestClassifier& classifier,
            const std::vector<RouteCase>& cases)
      : policy_(policy), classifier_(classifier), cases_(cases) {
    out_.classes = policy.classes();
    out_.confusion.assign(out_.classes.size(), std::vector<std::size_t>(out_.classes.size()));
    for (const LengthBand& band : kLengthBands) out_.lengths.push_back({band.name, {}});
  }

  Status classify(const base::Clock& clock,
                  const std::function<void(std::size_t, std::size_t)>& progress) {
    std::vector<double> ms_all;
    std::vector<double> ms_by_model;
    for (const RouteCase& one : cases_) {
      const double began_ms = clock.now_ms();
      LAYARD_ASSIGN(const RequestClass found, classifier_.classify(one.text));
      ms_all.push_back(clock.now_ms() - began_ms);
      if (!found.by_size) ms_by_model.push_back(ms_all.back());
      count(one, found);
      if (progress) progress(answers_.size(), 3 * cases_.size());
    }
    out_.ms_all = mean(ms_all);
    out_.ms_by_model = mean(ms_by_model);
    out_.ms_by_model_median = median(ms_by_model);
    return {};
  }

  Status count_flips(bool reversed, Share& flips,
                     const std::function<void(std::size_t)>& progress) {
    for (std::size_t first = 0; first < cases_.size(); first += kBatch) {
      std::vector<std::string> texts;
      std::vector<std::size_t> places;
      for (std::size_t i = first; i < std::min(first + kBatch, cases_.size()); ++i) {
        std::string text = reversed ? cases_[i].text : with_typos(cases_[i].text);
        if (judged_[i].by_size || (!reversed && text == cases_[i].text)) continue;
        texts.push_back(std::move(text));
        places.push_back(i);
      }
      const auto found = classifier_.classify_many(texts, reversed);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].ok()) return found[i].error();
        flips.add(found[i]->name != answers_[places[i]]);
      }
      progress(std::min(first + kBatch, cases_.size()));
    }
    return {};
  }

  RouteEvaluation finish() {
    std::vector<Judged> by_model;
    for (const Judged& one : judged_) {
      if (!one.by_size) by_model.push_back(one);
    }
    std::erase_if(out_.lengths, [](const NamedShare& band) { return band.share.all == 0; });
    out_.quarters = quarters_of(judged_);
    out_.quarters_by_model = quarters_of(by_model);
    out_.calibration_error = probability_error(by_model);
    return std::move(out_);
  }

  RouteEvaluation& out() { return out_; }

 private:
  std::size_t index_of(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(out_.classes, name) - out_.classes.begin());
  }

  void count(const RouteCase& one, const RequestClass& found) {
    Judged judged;
    judged.confidence = found.confidence;
    judged.right = found.name == one.class_name;
    judged.by_size = found.by_size;
    for (const LabelProbability& label : found.probabilities) {
      judged.probability = std::max(judged.probability, label.probability);
    }
    out_.all.add(judged.right);
    (found.by_size ? out_.by_size : out_.by_model).add(judged.right);
    ++out_.confusion[index_of(one.class_name)][index_of(found.name)];
    add_named(out_.languages, one.language, judged.right);
    add_named(out_.sources, one.source, judged.right);
    const auto band = std::ranges::lower_bound(kLengthBands, base::count_code_points(one.text), {},
                                               &LengthBand::code_points_max);
    out_.lengths[static_cast<std::size_t>(band - kLengthBands.begin())].share.add(judged.right);
    if (found.confidence < policy_.min_confidence) ++out_.below_threshold;
    judged_.push_back(judged);
    answers_.push_back(found.name);
  }

  const RoutePolicy& policy_;
  const RequestClassifier& classifier_;
  const std::vector<RouteCase>& cases_;
  RouteEvaluation out_;
  std::vector<Judged> judged_;
  std::vector<std::string> answers_;
};

}  // namespace

double Share::percent() const {
  return all == 0 ? 0 : 100 * static_cast<double>(right) / static_cast<double>(all);
}

Result<RouteEvaluation> evaluate_routes(
    const RoutePolicy& policy, const RequestClassifier& classifier,
    const std::vector<RouteCase>& cases,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  Evaluator evaluator(policy, classifier, cases);
  LAYARD_TRY(evaluator.classify(base::real_clock(), progress));
  for (const bool reversed : {false, true}) {
    Share& flips = reversed ? evaluator.out().order_flips : evaluator.out().typo_flips;
    const std::size_t before = (reversed ? 2 : 1) * cases.size();
    LAYARD_TRY(evaluator.count_flips(reversed, flips, [&](std::size_t done) {
      if (progress) progress(before + done, 3 * cases.size());
    }));
  }
  return evaluator.finish();
}

}  // namespace layard::gateway
