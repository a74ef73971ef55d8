#include "decision/option_orders.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/checks.h"
#include "base/python_number.h"
#include "base/python_random.h"
#include "base/sha256.h"

namespace layard::decision {
namespace {

using Order = std::vector<std::uint32_t>;
using Probabilities = std::vector<float>;

// Of the question as the model reads it: what it is called changes nothing.
std::uint64_t seed_of(const Question& question) {
  base::Sha256 hash;
  const auto add = [&](std::string_view text) {
    // The length keeps neighbouring texts apart.
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  };
  add(to_string(question.type));
  add(question.instructions);
  for (const std::string& option : question.options) add(option);
  const std::string hex = hash.hex();
  std::uint64_t seed = 0;
  std::from_chars(hex.data(), hex.data() + 16, seed, 16);
  return seed;
}

void shuffle(Order& order, base::PythonRandom& random) {
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[random.below(static_cast<std::uint32_t>(i + 1))]);
  }
}

// k!, as far as it matters.
std::size_t orders_there_are(std::size_t options, std::size_t wanted) {
  std::size_t count = 1;
  for (std::size_t k = 2; k <= options && count < wanted; ++k) count *= k;
  return std::min(count, wanted);
}

std::size_t winner(const Probabilities& p) {  // the first of equals, as an answer has it
  return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

Probabilities mean_of(const std::vector<Probabilities>& by_order) {
  Probabilities mean(by_order.front().size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (const Probabilities& p : by_order) sum += static_cast<double>(p[i]);
    mean[i] = static_cast<float>(sum / static_cast<double>(by_order.size()));
  }
  return mean;
}

OrderStability compare(const Question& question, const std::vector<Probabilities>& by_order,
                       const Probabilities& mean) {
  OrderStability out;
  out.question = question.id;
  out.orders = static_cast<std::int64_t>(by_order.size());
  if (by_order.size() < 2) return out;
  const std::size_t answer = winner(mean);
  float least = by_order.front()[answer];
  float most = least;
  std::size_t agreeing = 0;
  for (const Probabilities& p : by_order) {
    least = std::min(least, p[answer]);
    most = std::max(most, p[answer]);
    const std::size_t choice = winner(p);
    agreeing += choice == answer ? 1 : 0;
    out.choices.push_back(question.labels[choice]);
  }
  out.agreement =
      base::python_round4(static_cast<double>(agreeing) / static_cast<double>(by_order.size()));
  out.spread = base::python_round4(static_cast<double>(most) - static_cast<double>(least));
  return out;
}

// A question's rows are cut alike in all orders: each is named once.
Usage count_orders(const QuestionSet& asked, std::span<const PromptRow> rows) {
  Usage usage = count_usage(asked, rows);
  auto& cut = usage.truncated_questions;
  cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
  auto& collapsed = usage.options;
  collapsed.erase(std::unique(collapsed.begin(), collapsed.end(),
                              [](const CollapsedOptions& a, const CollapsedOptions& b) {
                                return a.question == b.question;
                              }),
                  collapsed.end());
  return usage;
}

}  // namespace

std::vector<Order> option_orders(const Question& question, int wanted) {
  LAYARD_CHECK(wanted >= 1 && wanted <= kOrdersMax);
  Order order = question.option_order;
  if (order.empty()) {
    order.resize(question.options.size());
    std::iota(order.begin(), order.end(), 0U);
  }
  std::vector<Order> orders = {order};
  if (question.type != QuestionType::kChoice) return orders;
  const std::size_t count = orders_there_are(order.size(), static_cast<std::size_t>(wanted));
  if (count > 1) orders.emplace_back(order.rbegin(), order.rend());
  base::PythonRandom random(seed_of(question));
  // Drawn from label order, whatever order the question itself has.
  std::sort(order.begin(), order.end());
  while (orders.size() < count) {
    shuffle(order, random);
    // There is one more than those taken: going through all of them finds it.
    while (std::ranges::find(orders, order) != orders.end()) {
      std::next_permutation(order.begin(), order.end());
    }
    orders.push_back(order);
  }
  return orders;
}

OrderedQuestions in_orders(const QuestionSet& questions, int orders) {
  OrderedQuestions out;
  if (orders == 1) return out;
  for (const Question& question : questions.questions) {
    const std::vector<Order> turned = option_orders(question, orders);
    out.counts.push_back(turned.size());
    for (std::size_t i = 0; i < turned.size(); ++i) {
      out.asked.questions.push_back(question);
      if (turned.size() > 1) out.asked.questions.back().option_order = turned[i];
    }
  }
  return out;
}

Result<AnswerSet> decode_orders(const QuestionSet& questions, const OrderedQuestions& ordered,
                                std::span<const PromptRow> rows, std::span<const RowScores> scores,
                                const Calibration& calibration) {
  const std::vector<Question>& asked = ordered.asked.questions;
  LAYARD_CHECK(ordered.counts.size() == questions.questions.size());
  LAYARD_CHECK(rows.size() == asked.size() && scores.size() == asked.size());
  AnswerSet result;
  std::size_t row = 0;
  for (std::size_t q = 0; q < questions.questions.size(); ++q) {
    std::vector<Probabilities> by_order;
    double act = 0;
    for (std::size_t i = 0; i < ordered.counts[q]; ++i, ++row) {
      LAYARD_ASSIGN(Probabilities p, row_probabilities(asked[row], scores[row], calibration));
      by_order.push_back(std::move(p));
      act += static_cast<double>(scores[row].act_probability);
    }
    const Probabilities mean = mean_of(by_order);
    result.answers.push_back(make_answer(questions.questions[q], mean,
                                         act / static_cast<double>(by_order.size()), calibration));
    result.stability.push_back(compare(questions.questions[q], by_order, mean));
  }
  result.usage = count_orders(ordered.asked, rows);
  return result;
}

}  // namespace layard::decision
