#include "runtime/golden_self_test.h"

#include <limits>

#include "runtime/engine.h"
#include "support/own_goldens.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

class GoldenSelfTest : public testing::TinyModel {
 protected:
  std::string golden(const std::string& state, double logit_change) {
    return testing::own_golden(*open(), "own", state, {logit_change, 0});
  }

  // With goldens.jsonl of this text, on a device that adds `wrong` to every first logit.
  Status run(const std::string& goldens, float wrong = 0, const std::string& dtype = "float32") {
    testing::write_file(folder_ / "goldens.jsonl", goldens);
    ModelOptions given = options();
    given.dtype = dtype;
    const auto engine = Engine::open(given);
    EXPECT_TRUE(engine.ok());
    const auto model = (*engine)->ensure_loaded();
    EXPECT_TRUE(model.ok()) << model.error().message;
    return golden_self_test(**model, [&](std::span<const encoder::ModelRow> rows,
                                         std::span<encoder::RowOutput> outputs) {
      rows_ += rows.size();
      const Status status = (*engine)->run_rows(**model, rows, outputs);
      for (encoder::RowOutput& output : outputs) output.logits[0] += wrong;
      return status;
    });
  }

  std::size_t rows_ = 0;
};

TEST_F(GoldenSelfTest, AgreesWithItself) {
  EXPECT_TRUE(run(golden("a text", 0)).ok());
  EXPECT_TRUE(run(golden("a text", 0), 0, "int8").ok()) << "what rounding moves is no fault";
}

TEST_F(GoldenSelfTest, OtherNumbersAreAFault) {
  for (const char* dtype : {"float32", "int8"}) {
    const Status status = run(golden("a text", 0), 3, dtype);
    ASSERT_FALSE(status.ok()) << dtype;
    EXPECT_EQ(status.error().code, ErrorCode::kBackendUnavailable);
    for (const char* word : {"goldens.jsonl", "is off by", "LAYARD_FORCE_ISA=scalar", dtype}) {
      EXPECT_NE(status.error().message.find(word), std::string::npos) << status.error().message;
    }
  }
  EXPECT_FALSE(run(golden("a text", 0), 0.01F).ok()) << "float32 is held to what it computes";
  const Status endless = run(golden("a text", 0), std::numeric_limits<float>::quiet_NaN());
  ASSERT_FALSE(endless.ok());
  EXPECT_NE(endless.error().message.find("not finite"), std::string::npos);
}

TEST_F(GoldenSelfTest, OnlyTheShortestRowOfATypeIsRun) {
  EXPECT_TRUE(run(golden("a much longer text", 3) + golden("a", 0) + golden("longer too", 3)).ok());
  EXPECT_EQ(rows_, 2U) << "one row, twice";
}

TEST_F(GoldenSelfTest, NoRecordsNoTest) {
  const auto engine = Engine::open(options());
  EXPECT_TRUE(golden_self_test(**(*engine)->ensure_loaded(), {}).ok());
}

TEST_F(GoldenSelfTest, MalformedFilesAreNamed) {
  const std::string outside =
      R"({"state":"s","questions":["q"],"rows":[{"input_ids":[99999],"markers":[0],)"
      R"("type":2,"logits":[1],"act":[1]}]})";
  for (const std::string& text : {std::string(), std::string("{"), outside}) {
    const Status status = run(text);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(status.error().message.find("goldens.jsonl"), std::string::npos)
        << status.error().message;
  }
}

}  // namespace
}  // namespace layard::runtime
