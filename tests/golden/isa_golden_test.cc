// Goal: the recorded cases hold whatever the kernels, the threads and the neighbours in the batch.
#include <gtest/gtest.h>

#include "pipeline_check.h"

namespace layard::golden {
namespace {

// Every case, on each instruction set and with one thread.
void check_isa(kernels::Isa isa) {
  LAYARD_REQUIRE_SHARED(shared);
  if (kernels::find_kernels(isa) == nullptr) {
    GTEST_SKIP() << "this machine or build has no " << kernels::isa_name(isa);
  }
  const std::string forced(kernels::isa_name(isa));
  for (const char* name : kNames) {
    const auto model = open_model(folder_of(shared, name), forced, 1);
    ASSERT_NE(model, nullptr);
    Checker checker(*model, forced + "/" + name);
    for (const GoldenCase& golden :
         read_cases(shared / "goldens" / (std::string(name) + ".jsonl"))) {
      checker.check(golden);
    }
    EXPECT_LE(checker.edges(), kEdgesMax) << forced << " " << name;
  }
}

TEST(GoldenPerIsa, Scalar) { check_isa(kernels::Isa::kScalar); }
TEST(GoldenPerIsa, Avx2) { check_isa(kernels::Isa::kAvx2); }
TEST(GoldenPerIsa, Avx512) { check_isa(kernels::Isa::kAvx512); }
TEST(GoldenPerIsa, Amx) { check_isa(kernels::Isa::kAmx); }
TEST(GoldenPerIsa, Neon) { check_isa(kernels::Isa::kNeon); }

std::vector<Request> requests(const std::filesystem::path& file) {
  std::vector<Request> out;
  for (const GoldenCase& golden : read_cases(file)) {
    auto questions = parse_questions(text(golden.questions), {});
    if (!questions.ok() || golden.rows.empty()) continue;
    out.push_back({*parse_state(text(golden.state)), *questions, std::nullopt, std::nullopt});
  }
  return out;
}

std::string bits(const std::vector<Result<Prediction>>& predictions) {
  std::string out;
  for (const auto& prediction : predictions) {
    for (const RawRow& row : prediction->rows) {
      out.append(reinterpret_cast<const char*>(row.logits.data()),
                 row.logits.size() * sizeof(float));
      out.append(reinterpret_cast<const char*>(row.act.data()), row.act.size() * sizeof(float));
    }
  }
  return out;
}

// All rows of a file in one batch, in reverse order, and one by one: the same bits.
TEST(GoldenPerIsa, BatchBitEqual) {
  LAYARD_REQUIRE_SHARED(shared);
  PredictOptions raw;
  raw.raw = true;
  for (const char* name : kNames) {
    const auto all = requests(shared / "goldens" / (std::string(name) + ".jsonl"));
    for (const std::string& isa : isas()) {
      if (isa == "scalar") continue;  // the same code path; the unit tests cover it
      std::string first;
      for (const int threads : {1, 2}) {
        const auto model = open_model(folder_of(shared, name), isa, threads);
        const std::string together = bits(model->predict_many(all, raw));
        std::vector<Result<Prediction>> singles;
        for (const Request& request : all) {
          singles.push_back(model->predict(request.state, request.questions, raw));
        }
        EXPECT_EQ(together, bits(singles)) << name << " " << isa << " threads " << threads;
        if (first.empty()) first = together;
        EXPECT_EQ(together, first) << name << " " << isa << " threads " << threads;
        std::vector<Request> reversed(all.rbegin(), all.rend());
        auto backwards = model->predict_many(reversed, raw);
        std::reverse(backwards.begin(), backwards.end());
        EXPECT_EQ(bits(backwards), first) << name << " " << isa;
      }
    }
  }
}

}  // namespace
}  // namespace layard::golden
