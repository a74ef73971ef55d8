#include "table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace layard::cli {
namespace {

std::string fixed(double value, const char* format) {
  std::array<char, 32> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), format, value);
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

std::size_t width(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? 0U : 1U;
  return count;
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t have = width(text);
  if (have < columns) text.append(columns - have, ' ');
  return text;
}

struct Option {
  std::string name;
  double probability;
};

struct Block {
  std::string answer;
  std::vector<Option> options;
  double answer_confidence;
};

Block block(const ChoiceAnswer& answer) {
  Block out{printable(answer.choice.text), {}, answer.answer_confidence};
  for (const auto& [key, probability] : answer.probabilities) {
    out.options.push_back({printable(key), probability});
  }
  return out;
}

Block block(const ScoreAnswer& answer) {
  Block out{fixed(answer.score, "%.2f") + " of 0-" + std::to_string(answer.legend.size() - 1),
            {},
            answer.answer_confidence};
  for (std::size_t i = 0; i < answer.legend.size(); ++i) {
    out.options.push_back(
        {std::to_string(i) + " " + printable(answer.legend[i]), answer.probabilities[i]});
  }
  return out;
}

Block block(const NoulAnswer& answer) {
  return {answer.noul >= 0.5 ? "yes" : "no",
          {{"yes", answer.noul}, {"no", 1 - answer.noul}},
          answer.answer_confidence};
}

std::string bar(double probability) {
  const auto filled = static_cast<std::size_t>(std::lround(probability * 24));
  std::string out;
  for (std::size_t i = 0; i < 24; ++i) out += i < filled ? "\u2588" : "\u00b7";
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(c == '\n' ? ' ' : byte < 0x20 || byte == 0x7F ? '?' : c);
  }
  return out;
}

std::string answers_table(const AnswerSet& answers) {
  std::string out;
  for (const Answer& answer : answers.answers) {
    const Block shown = std::visit([](const auto& value) { return block(value); }, answer.value);
    out += printable(answer.id) + ": " + shown.answer + "  (" +
           std::string(to_string(answer.type())) + ", answer confidence " +
           fixed(shown.answer_confidence * 100, "%.1f") + "%)\n";
    std::size_t columns = 0;
    for (const Option& option : shown.options) columns = std::max(columns, width(option.name));
    columns = std::min<std::size_t>(columns, 48);
    for (const Option& option : shown.options) {
      out += "  " + padded(option.name, columns) + "  " + bar(option.probability) + " " +
             fixed(option.probability * 100, "%5.1f") + "%\n";
    }
    out += "\n";
  }
  const Usage& usage = answers.usage;
  out += std::to_string(usage.input_tokens) + " tokens read";
  if (usage.state_tokens_dropped > 0) {
    out += ", " + std::to_string(usage.state_tokens_dropped) + " of the text's " +
           std::to_string(usage.state_tokens) + " tokens did not fit and were cut";
  }
  out += "\n";
  for (const std::string& warning : answers.warnings)
    out += "warning: " + printable(warning) + "\n";
  return out;
}

}  // namespace layard::cli
