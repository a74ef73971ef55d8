/// What a classifier takes requests of each class for: M(k|c).
///
/// Thread-safety: plain values; the functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "layard/error.h"

namespace layard::gateway {

/// Bytes of a file, and labels and answers of one label, that are read.
inline constexpr std::size_t kConfusionBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kConfusionNamesMax = 256;

/// Without rows it is a classifier that never errs.
struct Confusion {
  struct Answer {
    std::string name;  ///< a class, or any other name: no row gets it, as below the threshold
    double count = 0;
  };
  struct Row {
    std::string label;
    std::vector<Answer> answers;
  };
  std::vector<Row> rows;

  /// Share of the requests of class `label` that leave the classifier as `answer`, 0 to 1. Of a
  /// class without a row, or with counts of 0 only: all leave it as what they are.
  double taken(std::string_view label, std::string_view answer) const;
};

/// Reads what `layard route eval --format json` prints, or its member `confusion` alone:
/// `{LABEL: {ANSWER: COUNT}}`. Errors: kInvalidRequest naming `source` and the member.
Result<Confusion> parse_confusion(std::string_view text, const std::string& source);

}  // namespace layard::gateway
