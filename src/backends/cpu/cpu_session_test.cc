// What a session promises beyond right numbers: the same bits in any company, no allocation,
// typed errors.
#include "backends/cpu/cpu_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cpu/cpu_count.h"
#include "backends/cpu/test_rows.h"
#include "support/tiny_weights.h"

namespace {

// Counts every operator new of this executable, on any thread.
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace layard::backends::cpu {
namespace {

using encoder::ModelRow;
using encoder::RowOutput;

std::unique_ptr<CpuSession> open(const encoder::ModelWeights& weights,
                                 const kernels::KernelTable& table, const CpuOptions& options) {
  auto model = CpuModel::create(weights, nullptr, table, {ComputeType::kFloat32, options.threads});
  EXPECT_TRUE(model.ok());
  auto session = CpuSession::open(*model, options);
  EXPECT_TRUE(session.ok());
  return *std::move(session);
}

std::vector<RowOutput> run(CpuSession& session, const std::vector<ModelRow>& rows) {
  std::vector<RowOutput> outputs(rows.size());
  const Status status = session.run(rows, outputs);
  EXPECT_TRUE(status.ok()) << status.error().message;
  return outputs;
}

std::vector<const kernels::KernelTable*> tables() {
  const kernels::KernelTable* found[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(found);
  return {found, found + count};
}

/// Rows of 20, 64, 65, 128 and 300 tokens and a few odd ones, with a sliding window of 64.
class Fixture {
 public:
  Fixture() : rows_(50, 3) {
    for (const std::size_t tokens : {20, 64, 65, 128, 300, 1, 7}) rows_.add(tokens, tokens / 9 + 1);
    rows_.add_parallel(77, 6);
  }
  static encoder::EncoderConfig config() {
    encoder::EncoderConfig config = testing::tiny_modernbert();
    config.half_window = 64;
    return config;
  }
  const encoder::ModelWeights& weights() const { return tiny_.weights(); }
  const std::vector<ModelRow>& rows() const { return rows_.rows(); }

 private:
  testing::RandomWeights tiny_{config(), {2, 2}, 21};
  testing::TestRows rows_;
};

void expect_same_bits(const RowOutput& a, const RowOutput& b, std::string_view what) {
  EXPECT_EQ(a.logits, b.logits) << what;  // no NaN here: equal floats of one sign of zero
  EXPECT_EQ(a.act, b.act) << what;
}

TEST(CpuBackend, BatchInvariant) {
  const Fixture fixture;
  for (const kernels::KernelTable* table : tables()) {
    const auto session = open(fixture.weights(), *table, {2, 2048});
    std::vector<RowOutput> alone;
    for (const ModelRow& row : fixture.rows()) alone.push_back(run(*session, {row})[0]);
    std::vector<std::size_t> order(fixture.rows().size());
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937 random(5);
    for (int round = 0; round < 6; ++round) {
      std::vector<ModelRow> rows;
      for (const std::size_t i : order) rows.push_back(fixture.rows()[i]);
      const std::vector<RowOutput> together = run(*session, rows);
      for (std::size_t i = 0; i < order.size(); ++i) {
        expect_same_bits(together[i], alone[order[i]], table->name);
      }
      std::shuffle(order.begin(), order.end(), random);
    }
  }
}

TEST(CpuBackend, BatchInvariantForEveryRowCount) {
  const testing::RandomWeights tiny(testing::tiny_modernbert(), {1, 2}, 22);
  testing::TestRows all(50, 4);
  for (std::size_t i = 0; i < 64; ++i) all.add(1 + i % 5, 1);
  for (const kernels::KernelTable* table : tables()) {
    const auto session = open(tiny.weights(), *table, {1, 2048});
    const std::vector<RowOutput> whole = run(*session, all.rows());
    for (std::size_t m = 1; m < 64; ++m) {
      const std::vector<ModelRow> front(all.rows().begin(),
                                        all.rows().begin() + static_cast<long>(m));
      expect_same_bits(run(*session, front)[m - 1], whole[m - 1], table->name);
    }
  }
}

TEST(CpuBackend, PassSizeInvariant) {
  const Fixture fixture;
  const kernels::KernelTable& table = *tables()[0];
  const auto whole = run(*open(fixture.weights(), table, {2, 1 << 20}), fixture.rows());
  for (const std::size_t tokens : {1, 100, 200, 400}) {
    const auto cut = run(*open(fixture.weights(), table, {2, tokens}), fixture.rows());
    for (std::size_t i = 0; i < whole.size(); ++i) expect_same_bits(cut[i], whole[i], "pass size");
  }
}

TEST(CpuBackend, ThreadInvariant) {
  const Fixture fixture;
  for (const kernels::KernelTable* table : tables()) {
    const auto one = run(*open(fixture.weights(), *table, {1, 2048}), fixture.rows());
    for (const int threads : {2, 3, 4}) {
      const auto session = open(fixture.weights(), *table, {threads, 2048});
      EXPECT_EQ(session->threads(), threads);
      const auto many = run(*session, fixture.rows());
      for (std::size_t i = 0; i < one.size(); ++i) expect_same_bits(many[i], one[i], table->name);
    }
  }
}

TEST(CpuBackend, RepeatBitEqual) {
  const Fixture fixture;
  for (const kernels::KernelTable* table : tables()) {
    const auto session = open(fixture.weights(), *table, {2, 2048});
    const auto first = run(*session, fixture.rows());
    for (int i = 0; i < 5; ++i) {
      const auto again = run(*session, fixture.rows());
      for (std::size_t r = 0; r < first.size(); ++r) {
        expect_same_bits(again[r], first[r], table->name);
      }
    }
  }
}

TEST(CpuBackend, NoAllocationAfterWarmUp) {
  const Fixture fixture;
  const auto session = open(fixture.weights(), *tables()[0], {2, 2048});
  std::vector<RowOutput> outputs(fixture.rows().size());
  const std::size_t before = allocations.load();
  ASSERT_TRUE(session->run(fixture.rows(), outputs).ok());
  ASSERT_GT(allocations.load(), before) << "the counter counts nothing";
  const std::size_t warm = allocations.load();
  const std::size_t working = session->working_bytes();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(session->run(fixture.rows(), outputs).ok());
    const std::span<const ModelRow> rows(fixture.rows());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      ASSERT_TRUE(session->run(rows.subspan(r, 1), std::span(outputs).subspan(r, 1)).ok());
    }
  }
  EXPECT_EQ(allocations.load(), warm);
  EXPECT_EQ(session->working_bytes(), working);
}

TEST(CpuBackend, NoRowsIsNoWork) {
  const Fixture fixture;
  const auto session = open(fixture.weights(), *tables()[0], {1, 2048});
  EXPECT_TRUE(session->run({}, {}).ok());
}

TEST(CpuBackend, DefaultThreadsAreThisMachines) {
  const Fixture fixture;
  auto model =
      CpuModel::create(fixture.weights(), nullptr, *tables()[0], {ComputeType::kFloat32, 1});
  ASSERT_TRUE(model.ok());
  const auto session = CpuSession::open(*model, {});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->threads(), cpu_count());
}

void check_refused(CpuSession& session, const std::vector<std::int32_t>& ids,
                   const std::vector<std::int32_t>& markers, int type, ErrorCode code) {
  const ModelRow row{ids, markers, type, {}, {}};
  std::vector<RowOutput> outputs(1);
  const Status status = session.run(std::span(&row, 1), outputs);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, code) << status.error().message;
}

TEST(CpuBackend, BadRowsAreRefusedAndTheSessionGoesOn) {
  const testing::RandomWeights tiny(testing::tiny_bert(), {1, 2}, 23);
  const auto session = open(tiny.weights(), *tables()[0], {1, 2048});
  check_refused(*session, std::vector<std::int32_t>(601, 1), {1}, 0, ErrorCode::kUnsupportedShape);
  check_refused(*session, {}, {0}, 0, ErrorCode::kInternal);
  check_refused(*session, {50}, {0}, 0, ErrorCode::kInternal);
  check_refused(*session, {1}, {}, 0, ErrorCode::kInternal);
  check_refused(*session, {1}, {1}, 0, ErrorCode::kInternal);
  check_refused(*session, {1}, {0}, 3, ErrorCode::kInternal);
  testing::TestRows good(50);
  good.add(600, 3);
  EXPECT_EQ(run(*session, good.rows())[0].logits.size(), 3U);
}

}  // namespace
}  // namespace layard::backends::cpu
