#include "evaluation/option_names.h"

namespace layard::evaluation {

std::string option_name(const Question& question, std::size_t option) {
  switch (question.type) {
    case QuestionType::kChoice:
      return question.labels[option].key;
    case QuestionType::kScore:
      return std::to_string(option);
    case QuestionType::kNoul:
      return option == 0 ? "false" : "true";
  }
  return {};
}

}  // namespace layard::evaluation
