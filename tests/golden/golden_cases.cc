#include "golden_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace layard::golden {
namespace {

std::vector<std::int32_t> ints(const base::JsonValue& array) {
  std::vector<std::int32_t> out;
  for (const auto& item : array.items()) out.push_back(static_cast<std::int32_t>(*item.as_int64()));
  return out;
}

GoldenRow read_row(const base::JsonValue& json) {
  GoldenRow row;
  row.question = json.find("question")->text();
  row.input_ids = ints(*json.find("input_ids"));
  row.markers = ints(*json.find("markers"));
  row.type = static_cast<int>(*json.find("type")->as_int64());
  for (const auto& value : json.find("logits")->items()) {
    row.logits.push_back(static_cast<float>(value.as_double()));
  }
  for (const auto& value : json.find("act")->items()) row.act.push_back(value.as_double());
  return row;
}

GoldenCase read_case(const base::JsonValue& json) {
  GoldenCase golden;
  golden.name = json.find("name")->text();
  golden.state = *json.find("state");
  golden.questions = *json.find("questions");
  if (const auto* error = json.find("error")) {
    golden.error_type = error->find("type")->text();
    golden.error_message = error->find("upstream_message")->text();
    return golden;
  }
  // Odd input that upstream answers is recorded without its rows.
  if (const auto* rows = json.find("rows")) {
    for (const auto& row : rows->items()) golden.rows.push_back(read_row(row));
  }
  golden.response = *json.find("response");
  return golden;
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<GoldenCase> read_cases(const std::filesystem::path& path) {
  std::vector<GoldenCase> cases;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    const auto json = base::parse_json(line, {});
    EXPECT_TRUE(json.ok()) << path << ": " << (json.ok() ? "" : json.error().message);
    if (json.ok()) cases.push_back(read_case(*json));
  }
  EXPECT_FALSE(cases.empty()) << path;
  return cases;
}

}  // namespace layard::golden
