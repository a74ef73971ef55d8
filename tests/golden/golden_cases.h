/// Reads the reference outputs of the upstream package (one JSON object a line).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace layard::golden {

/// One prompt row as upstream built it and what its model said.
struct GoldenRow {
  std::string question;
  std::vector<std::int32_t> input_ids;
  std::vector<std::int32_t> markers;
  std::vector<std::int32_t> positions;  // parallel layout only, recomputed by the prompt builder
  int type = 0;
  std::vector<float> logits;
  std::vector<double> act;  // softmax of the act head's logits
};

/// One request: its answer, or the error upstream raised.
struct GoldenCase {
  std::string name;
  base::JsonValue state;
  base::JsonValue questions;
  std::vector<GoldenRow> rows;
  base::JsonValue response;  // null when upstream raised
  std::string error_type;    // empty when upstream answered
  std::string error_message;
};

/// All cases of one file. Fails the process through a gtest failure when the file is malformed.
std::vector<GoldenCase> read_cases(const std::filesystem::path& path);

/// Whole file as text.
std::string read_text(const std::filesystem::path& path);

}  // namespace layard::golden
