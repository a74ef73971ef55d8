// The two forms reference outputs come in, and what is said about malformed ones.
#include <gtest/gtest.h>

#include "validation/parity.h"

namespace layard::validation {
namespace {

const std::string kHead = R"({"name":"a","state":"s","questions":{},)";

// A case of one row with the given members.
std::string row_case(const std::string& members) {
  return kHead + R"("rows":[{)" + members + "}]}";
}

TEST(ReferenceFile, ReadsLines) {
  const std::string good =
      row_case(R"("input_ids":[1,2],"markers":[1],"type":2,"logits":[0.5],"act":[0.25,0.75])");
  const std::string refused = kHead + R"("error":{"type":"ValueError","upstream_message":"x"}})";
  const auto cases = read_reference(good + "\n\n" + refused);
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ASSERT_EQ(cases->size(), 1U);
  EXPECT_EQ((*cases)[0].rows[0].ids, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ((*cases)[0].rows[0].type, 2);
  EXPECT_EQ((*cases)[0].rows[0].act[1], 0.75);
}

TEST(ReferenceFile, ReadsOneObject) {
  const auto cases =
      read_reference(R"({"cases":[)" + kHead +
                     R"("items":[{"ids":[1,2],"markers":[1],"qtype":0}],"logits":[[0.5]],)"
                     R"("action_logits":[[0,0]]}]})");
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  EXPECT_EQ((*cases)[0].rows[0].act[0], 0.5);
}

void check_refused(const std::string& text, const std::string& part) {
  const auto result = read_reference(text);
  ASSERT_FALSE(result.ok()) << text;
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST(ReferenceFile, NamesWhatIsWrong) {
  check_refused("", "no case");
  check_refused(R"({"name":1})", "line 1");
  check_refused("{}\nxx", "line 1");
  check_refused("not json", "line 1: JSON at column 1: ");
  check_refused("{\"state\":1,\"questions\":{}}\n\n[1,]", "line 3: JSON at column 3 (/1): a comma");
  // One object over many lines goes wrong where it does, not in its first line.
  check_refused("{\n \"cases\": [\n  {\"state\": 1},\n ]\n}",
                "line 3: JSON at column 15 (/cases/1): a comma");
  check_refused("{\"cases\": [\n {]}", "line 2: JSON at column 3 (/cases/0): ");
  check_refused("{\n \"case\": []\n}", "goldens file: is neither JSON Lines nor an object with");
  check_refused("{\"state\": 1\n{}", "line 1: JSON at column 12 (/state): ");
  check_refused(row_case(R"("input_ids":[-1],"markers":[0],"type":0,"logits":[1],"act":[1])"),
                "input_ids");
  check_refused(row_case(R"("input_ids":[1],"markers":[0],"type":7,"logits":[1],"act":[1])"),
                "type");
  check_refused(row_case(R"("input_ids":[1],"markers":[0],"type":0,"logits":[1,2],"act":[1])"),
                "one logit");
  check_refused(row_case(R"("input_ids":[1],"markers":[0],"type":0,"logits":["x"],"act":[1])"),
                "logits");
  check_refused(row_case(R"("input_ids":[],"markers":[0],"type":0,"logits":[1],"act":[1])"),
                "at least one token");
  check_refused(row_case(R"("input_ids":[1],"markers":[1],"type":0,"logits":[1],"act":[1])"),
                "ascend inside");
  check_refused(row_case(R"("input_ids":[1],"markers":[0],"type":0,"logits":[1e308],"act":[1])"),
                "finite");
  check_refused(row_case(R"("input_ids":[1],"markers":[0],"type":0,"logits":[1],"act":[1e999])"),
                "finite");
  check_refused(R"({"cases":[)" + kHead + R"("items":[1],"logits":[],"action_logits":[]}]})",
                "same length");
}

}  // namespace
}  // namespace layard::validation
