/// The words and questions of the exact-length workload.
///
/// Source: laya-apple 1.7.0 (Apache-2.0), benchmark workload: subjects, verbs, details, asks and
/// the pool of questions are its data, so that figures can be compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/python_random.h"
#include "layard/question.h"

namespace layard::runtime {

/// An endless stream of generated support tickets, word by word.
class TicketWords {
 public:
  explicit TicketWords(std::uint64_t seed) : random_(seed) {}

  /// The next word, with its punctuation.
  std::string next();

  /// The next sentences, as one text. Only between whole sentences.
  std::string sentence();

 private:
  base::PythonRandom random_;
  std::vector<std::string> words_;  // of the current sentence, last first
};

/// Questions q0, q1, ...: entries (seed + i) mod 7 of the pool.
QuestionSet workload_questions(int count, std::uint64_t seed);

}  // namespace layard::runtime
