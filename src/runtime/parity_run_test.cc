#include "runtime/parity_run.h"

#include "base/json.h"
#include "base/sha256.h"
#include "runtime/resolve.h"
#include "support/tiny_model.h"
#include "validation/parity_record.h"

namespace layard::runtime {
namespace {

class ParityRun : public testing::TinyModel {
 protected:
  // Hundreds of rows are run: two layers are enough.
  void SetUp() override {
    testing::TinyOptions small;
    small.layers = 2;
    small.head_layers = 1;
    testing::write_tiny_checkpoint(folder_.path(), small);
  }

  // `count` goldens of one row each, recorded from the model itself in float32; `change` is added
  // to every first logit.
  std::string goldens(double change, int count) {
    const auto model = open();
    PredictOptions raw;
    raw.raw = true;
    std::string lines;
    for (int i = 0; i < count; ++i) {
      const std::string state = "the text " + std::to_string(i);
      const auto json = model->predict_json(state, R"(["Is it?"])", {}, raw);
      const auto root = base::parse_json(*json, {});
      base::JsonValue row = *root->find("rows")->find("Is it?");
      row.set("type", base::JsonValue::integer(2));
      base::JsonValue logits = base::JsonValue::array();
      for (std::size_t k = 0; k < row.find("logits")->size(); ++k) {
        logits.push_back(base::JsonValue::real(row.find("logits")->items()[k].as_double() +
                                               (k == 0 ? change : 0.0)));
      }
      row.set("logits", std::move(logits));
      base::JsonValue rows = base::JsonValue::array();
      rows.push_back(std::move(row));
      base::JsonValue line = base::JsonValue::object();
      line.set("name", base::JsonValue::string("own " + std::to_string(i)));
      line.set("state", base::JsonValue::string(state));
      line.set("questions", *base::parse_json(R"(["Is it?"])", {}));
      line.set("rows", std::move(rows));
      lines += write_json(line, base::JsonStyle::kCompact) + "\n";
    }
    return lines;
  }

  // The gate's JSON from a model that has a cache folder.
  base::JsonValue run(const std::string& dtype, const std::string& lines, bool passes) {
    ModelOptions given = options();
    given.dtype = dtype;
    given.environment.cache_dir = cache_.path().string();
    auto model = Model::open(given);
    EXPECT_TRUE(model.ok()) << model.error().message;
    const auto report = (*model)->parity(lines, {});
    EXPECT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->passed, passes) << report->json;
    return *base::parse_json(report->json, {});
  }
  std::string dtype_of_auto() {
    ModelOptions given = options();
    given.dtype = "auto";
    given.environment.cache_dir = cache_.path().string();
    return *(*Model::open(given))
                ->predict({"x", false}, *parse_questions(R"(["q"])", {}), {})
                ->runtime.dtype;
  }

  testing::TempDir cache_;
};

constexpr int kEnough = static_cast<int>(validation::kRecordRowsMin);

TEST_F(ParityRun, OwnGoldensPassAndOthersFail) {
  const auto same = open()->parity(goldens(0.0, 1), {});
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_TRUE(same->passed) << same->json;
  const auto other = open()->parity(goldens(0.01, 1), {});
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->passed);
}

TEST_F(ParityRun, ShippedGoldensAreTheDefault) {
  const auto absent = open()->parity(std::nullopt, {});
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("--goldens"), std::string::npos);
  testing::write_file(folder_ / "goldens.jsonl", goldens(0.0, 1));
  EXPECT_TRUE(open()->parity(std::nullopt, {})->passed);
}

TEST_F(ParityRun, MalformedGoldensAreRefused) {
  testing::write_file(folder_ / "goldens.jsonl", goldens(0.0, 1));
  const auto empty = open()->parity("", {});  // given and empty is not the same as not given
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kInvalidRequest);
  const auto outside =
      open()->parity(R"({"state":"s","questions":["q"],"rows":[{"input_ids":[99999],"markers":[0],)"
                     R"("type":2,"logits":[1],"act":[1]}]})",
                     {});
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.error().code, ErrorCode::kInvalidRequest) << outside.error().message;
  const auto result = open()->parity("{\"state\":1}", {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidRequest);
}

TEST_F(ParityRun, APassLeavesARecordThatAutoReads) {
  const std::string lines = goldens(0.0, kEnough);
  EXPECT_EQ(dtype_of_auto(), "float32");
  const auto root = run("bfloat16", lines, true);
  const auto& record = *root.find("record");
  EXPECT_TRUE(record.find("written")->as_bool());
  EXPECT_EQ(record.find("note"), nullptr);
  EXPECT_EQ(root.find("weights")->text(), "unknown");
  EXPECT_GT(root.find("row_ms_median")->as_double(), 0.0);
  const auto kept = validation::parse_record(testing::read_file(record.find("path")->text()));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_TRUE(kept->passed);
  EXPECT_EQ(kept->rows, validation::kRecordRowsMin);
  EXPECT_EQ(kept->key.dtype, "bfloat16");
  EXPECT_EQ(kept->weights, "unknown");
  EXPECT_EQ(kept->goldens_sha256, base::sha256_hex(lines));
  EXPECT_EQ(kept->prob_max_abs, root.find("prob_max_abs")->as_double());
  EXPECT_EQ(kept->row_ms_median, root.find("row_ms_median")->as_double());
  EXPECT_EQ(dtype_of_auto(), "bfloat16");
}

// Three cases of one row whose two runs take 9 and 4, 2 and 8, 30 and 6 ms: the median of 4, 2, 6.
TEST_F(ParityRun, TimesAreMediansOfTheFasterRuns) {
  const auto identity = resolve_model(options());
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  const auto loaded = LoadedModel::load(*identity, options());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  base::FakeClock clock;
  std::size_t call = 0;
  const validation::Forward forward = [&](std::span<const encoder::ModelRow> rows,
                                          std::span<encoder::RowOutput> outputs) {
    constexpr std::int64_t kMs[] = {9, 4, 2, 8, 30, 6};
    clock.advance_ns(kMs[call++] * 1'000'000);
    return (*loaded)->session().run(rows, outputs);
  };
  const std::string lines = goldens(0.0, 3);
  const auto report = run_parity(**loaded, {lines, {}, clock}, forward, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const auto root = *base::parse_json(report->json, {});
  EXPECT_EQ(call, 6U);
  EXPECT_EQ(root.find("row_ms_median")->as_double(), 4.0);
  EXPECT_EQ(root.find("duration_s")->as_double(), 0.059);
}

TEST_F(ParityRun, AFailureIsRecordedToo) {
  const std::string lines = goldens(0.0, kEnough);
  run("bfloat16", lines, true);
  EXPECT_EQ(dtype_of_auto(), "bfloat16");
  const auto root = run("bfloat16", goldens(1.5, 1), false);  // one row is enough to fail
  EXPECT_TRUE(root.find("record")->find("written")->as_bool());
  EXPECT_FALSE(
      validation::parse_record(testing::read_file(root.find("record")->find("path")->text()))
          ->passed);
  EXPECT_EQ(dtype_of_auto(), "float32");
}

TEST_F(ParityRun, TooFewRowsVouchForNothing) {
  const auto root = run("bfloat16", goldens(0.0, kEnough - 1), true);
  const auto& record = *root.find("record");
  EXPECT_FALSE(record.find("written")->as_bool());
  EXPECT_NE(record.find("note")->text().find("199 rows"), std::string::npos);
  EXPECT_NE(record.find("note")->text().find("at least 200"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(record.find("path")->text()));
  EXPECT_EQ(dtype_of_auto(), "float32");
}

TEST_F(ParityRun, OtherTemperaturesAreAnotherCheckpoint) {
  run("bfloat16", goldens(0.0, kEnough), true);
  std::string config = testing::read_file(folder_ / "rl_agent_config.json");
  config.replace(config.find("1.25"), 4, "0.75");
  testing::write_file(folder_ / "rl_agent_config.json", config);
  EXPECT_EQ(dtype_of_auto(), "float32");
  EXPECT_NE(log_.find("another config_sha256"), std::string::npos) << log_;
}

TEST_F(ParityRun, RandomWeightsAreNeverRecorded) {
  std::string config = testing::read_file(folder_ / "rl_agent_config.json");
  config.replace(0, 1, R"({"weights":"random",)");
  testing::write_file(folder_ / "rl_agent_config.json", config);
  for (const bool passes : {true, false}) {
    const auto root = run("bfloat16", goldens(passes ? 0.0 : 1.5, kEnough), passes);
    EXPECT_EQ(root.find("weights")->text(), "random");
    EXPECT_FALSE(root.find("record")->find("written")->as_bool());
    EXPECT_NE(root.find("record")->find("note")->text().find("random"), std::string::npos);
  }
}

TEST_F(ParityRun, TrainedWeightsSayso) {
  std::string config = testing::read_file(folder_ / "rl_agent_config.json");
  config.replace(0, 1, R"({"training":{"steps":3},)");
  testing::write_file(folder_ / "rl_agent_config.json", config);
  EXPECT_EQ(run("float32", goldens(0.0, 1), true).find("weights")->text(), "trained");
}

TEST_F(ParityRun, NoPlaceForARecordIsANote) {
  const std::string lines = goldens(0.0, kEnough);
  const auto without = open()->parity(lines, {});
  const auto root = *base::parse_json(without->json, {});
  EXPECT_TRUE(without->passed);
  EXPECT_FALSE(root.find("record")->find("written")->as_bool());
  EXPECT_NE(root.find("record")->find("note")->text().find("LAYARD_CACHE"), std::string::npos);
  testing::write_file(cache_ / "parity", "a file where the folder should be");
  const auto blocked = run("float32", lines, true);
  EXPECT_FALSE(blocked.find("record")->find("written")->as_bool());
  EXPECT_NE(blocked.find("record")->find("note")->text().find("parity"), std::string::npos);
}

TEST_F(ParityRun, AutoIsNotMeasured) {
  ModelOptions given = options();
  given.dtype = "auto";
  const auto report = (*Model::open(given))->parity(goldens(0.0, 1), {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidRequest);
  EXPECT_NE(report.error().message.find("--dtype"), std::string::npos);
}

}  // namespace
}  // namespace layard::runtime
