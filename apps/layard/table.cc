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
  // The chosen answer's number is answer_confidence itself: the difference from 1 may round another
  // way in the last digit.
  const bool yes = answer.noul >= 0.5;
  return {yes ? "yes" : "no",
          {{"yes", answer.noul}, {"no", yes ? 1 - answer.noul : answer.answer_confidence}},
          answer.answer_confidence};
}

constexpr std::size_t kBarColumns = 24;
constexpr std::size_t kLabelColumns = 48;  // where nothing bounds the line, and labels stay whole
constexpr std::size_t kLabelColumnsMin = 12;

// What a line of `columns_max` leaves for the label; 0 is a line without a bound.
std::size_t label_columns(std::size_t columns_max) {
  if (columns_max == 0) return kLabelColumns;
  constexpr std::size_t kOther = 2 + 2 + kBarColumns + 1 + 6;  // blanks, bar, percentage
  return std::max(columns_max, kOther + kLabelColumnsMin) - kOther;
}

// A label that is too long keeps its start and its end: either may be what tells it from others.
std::string shortened(const std::string& label, std::size_t columns_max) {
  const std::size_t most = label_columns(columns_max);
  const std::size_t have = width(label);
  if (columns_max == 0 || have <= most) return label;
  const std::size_t tail = most / 3;
  const std::size_t head = most - 1 - tail;
  std::string out;
  std::size_t at = 0;  // characters before this byte
  for (const char c : label) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      if (at == head) out += "\u2026";
      ++at;
    }
    if (at <= head || at > have - tail) out += c;
  }
  return out;
}

// Where in a text that was read in windows the answer comes from.
std::string window_text(const Answer& answer) {
  if (!answer.window) return "";
  const AnswerWindow& window = *answer.window;
  return ", window " + std::to_string(window.index + 1) + " of " + std::to_string(window.count) +
         ": tokens " + std::to_string(window.token_start) + " to " +
         std::to_string(window.token_end);
}

// How far the answer depends on the order of its options, where several were asked.
std::string stability_text(const AnswerSet& answers, const std::string& question) {
  const auto found = std::ranges::find(answers.stability, question, &OrderStability::question);
  if (found == answers.stability.end() || found->choices.empty()) return "";
  return ", the answer of " + fixed(found->agreement * 100, "%.0f") + "% of " +
         std::to_string(found->orders) + " orders, spread " + fixed(found->spread * 100, "%.1f") +
         "%";
}

std::string bar(double probability) {
  const auto filled = static_cast<std::size_t>(std::lround(probability * kBarColumns));
  std::string out;
  for (std::size_t i = 0; i < kBarColumns; ++i) out += i < filled ? "\u2588" : "\u00b7";
  return out;
}

}  // namespace

namespace {

// Length of the well-formed UTF-8 sequence at `at`, or 0.
std::size_t sequence_bytes(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = lead < 0x80   ? 1
                            : lead < 0xC2 ? 0
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                                          : 4;
  if (bytes == 0 || lead > 0xF4 || at + bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) return 0;
  }
  return bytes;
}

// C0, DEL, C1 (U+0080..9F), and the marks that reorder text (U+200E/F, 202A..E, 2066..9).
bool steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  if (byte(1) == 0x80)
    return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xAA && byte(2) <= 0xAE);
  return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = sequence_bytes(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(bytes, 1));
    if (character == "\n") {
      out += ' ';
    } else if (bytes == 0 || steers(character)) {
      out += '?';
    } else {
      out += character;
    }
    at += character.size();
  }
  return out;
}

std::string answers_table(const AnswerSet& answers, std::size_t columns_max) {
  std::string out;
  for (const Answer& answer : answers.answers) {
    const Block shown = std::visit([](const auto& value) { return block(value); }, answer.value);
    out += printable(answer.id) + ": " + shown.answer + "  (" +
           std::string(to_string(answer.type())) + ", answer confidence " +
           fixed(shown.answer_confidence * 100, "%.1f") + "%" + window_text(answer) +
           stability_text(answers, answer.id) + ")\n";
    std::size_t columns = 0;
    for (const Option& option : shown.options) columns = std::max(columns, width(option.name));
    columns = std::min(columns, label_columns(columns_max));
    for (const Option& option : shown.options) {
      out += "  " + padded(shortened(option.name, columns_max), columns) + "  " +
             bar(option.probability) + " " + fixed(option.probability * 100, "%5.1f") + "%\n";
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
