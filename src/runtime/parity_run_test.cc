#include "runtime/parity_run.h"

#include "base/filesystem.h"
#include "base/json.h"
#include "base/sha256.h"
#include "runtime/resolve.h"
#include "support/own_goldens.h"
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
  // to every first logit, `act_change_` to every first probability of the act head.
  std::string goldens(double change, int count) {
    const auto model = open();
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines += testing::own_golden(*model, "own " + std::to_string(i),
                                   "the text " + std::to_string(i), {change, act_change_});
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
  double act_change_ = 0;
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

// Errors name the line, the case if it has a name, and the file where it is not the caller's.
TEST_F(ParityRun, MalformedGoldensAreNamed) {
  const std::string row = R"("rows":[{"input_ids":[1,2],"markers":[0],"type":2,"logits":[1],)"
                          R"("act":[1]}])";
  const std::string outside = R"("rows":[{"input_ids":[99999],"markers":[0],"type":2,)"
                              R"("logits":[1],"act":[1]}])";
  const auto check = [&](const std::string& text, const std::string& expected) {
    const auto given = open()->parity(text, {});
    ASSERT_FALSE(given.ok()) << text;
    EXPECT_TRUE(given.error().message.starts_with(expected)) << given.error().message;
    const auto path = (folder_ / "goldens.jsonl").string();
    testing::write_file(path, text);
    const auto shipped = open()->parity(std::nullopt, {});
    ASSERT_FALSE(shipped.ok()) << text;
    EXPECT_EQ(shipped.error().message, "'" + path + "': " + given.error().message);
  };
  check("\n\n{\"state\":", "goldens line 3: JSON at column 10 (/state): ");
  check(R"({"state":"s"})", "goldens line 1: needs state and questions");
  check(R"({"state":null,"questions":["q"],)" + row + "}", "goldens line 1: state must not be");
  check(
      "\n"
      R"({"name":"own","state":"s","questions":["q",1],)" +
          row + "}",
      "goldens case 'own' (line 2): questions ");
  check(R"({"name":"own","state":"s","questions":["q"],)" + outside + "}",
        "goldens case 'own' (line 1): ");
  check(R"({"cases":[{"state":"s","questions":["q"],)" + outside + "}]}", "goldens cases[0]: ");
  check("", "goldens file: holds no case with rows");
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
  const auto root = run("bfloat16", goldens(1.5, kEnough), false);
  EXPECT_TRUE(root.find("record")->find("written")->as_bool());
  EXPECT_FALSE(
      validation::parse_record(testing::read_file(root.find("record")->find("path")->text()))
          ->passed);
  EXPECT_EQ(dtype_of_auto(), "float32");
}

// One row is enough to fail, but not to undo what many rows have shown.
TEST_F(ParityRun, AFailureOnFewRowsReplacesNoPass) {
  const auto record = [&](int rows, double change) {
    return *run("bfloat16", goldens(change, rows), change == 0).find("record");
  };
  const auto recorded = [&](const base::JsonValue& shown) {
    return *validation::parse_record(testing::read_file(shown.find("path")->text()));
  };
  const auto first = record(1, 1.5);  // in the place of none
  EXPECT_TRUE(first.find("written")->as_bool());
  EXPECT_FALSE(recorded(first).passed);
  EXPECT_TRUE(record(kEnough, 0).find("written")->as_bool());
  const auto few = record(kEnough - 1, 1.5);
  EXPECT_FALSE(few.find("written")->as_bool());
  for (const char* part : {"failed on 199 different rows", "a pass on 200 rows, stays in force",
                           "--dtype auto", "at least 200 different rows", "--goldens"}) {
    EXPECT_NE(few.find("note")->text().find(part), std::string::npos) << few.find("note")->text();
  }
  EXPECT_TRUE(recorded(few).passed);
  EXPECT_EQ(dtype_of_auto(), "bfloat16");
  std::string many;
  const std::string one = goldens(1.5, 1);
  for (int i = 0; i < kEnough; ++i) many += one;  // the same row again and again
  EXPECT_FALSE(run("bfloat16", many, false).find("record")->find("written")->as_bool());
  // A pass that does not count here, of another build, is no reason to keep silent.
  std::string text = testing::read_file(few.find("path")->text());
  text.replace(text.find("\"build\": \"") + 10, 1, "9");
  ASSERT_TRUE(
      base::write_private_atomically(base::real_filesystem(), few.find("path")->text(), text).ok());
  EXPECT_TRUE(record(1, 1.5).find("written")->as_bool());
}

// What a warning says later has to be in the record.
TEST_F(ParityRun, TheRecordHasAllThatFailed) {
  act_change_ = 0.5;
  const auto root = run("bfloat16", goldens(0.0, 2), false);
  const auto kept =
      *validation::parse_record(testing::read_file(root.find("record")->find("path")->text()));
  EXPECT_GT(kept.action_prob_max_abs, validation::kToleranceReduced);
  EXPECT_EQ(kept.action_prob_max_abs, root.find("action_prob_max_abs")->as_double());
  EXPECT_LT(kept.prob_max_abs, validation::kToleranceReduced);
  EXPECT_TRUE(kept.all_finite && kept.repeat_identical);
  EXPECT_EQ(kept.token_mismatch_cases, 0U);
}

TEST_F(ParityRun, TooFewRowsVouchForNothing) {
  const auto root = run("bfloat16", goldens(0.0, kEnough - 1), true);
  const auto& record = *root.find("record");
  EXPECT_FALSE(record.find("written")->as_bool());
  EXPECT_NE(record.find("note")->text().find("199 different rows"), std::string::npos);
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
