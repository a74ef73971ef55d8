#include "backends/cpu/cpu_model.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_session.h"
#include "backends/cpu/test_rows.h"
#include "support/tiny_weights.h"

namespace layard::backends::cpu {
namespace {

const kernels::KernelTable& best() { return **kernels::select_kernels(""); }

TEST(CpuModel, PacksOnceAndCountsItsMemory) {
  testing::RandomWeights tiny(testing::tiny_modernbert(), {2, 2}, 1);
  const auto model = CpuModel::create(tiny.weights(), nullptr, best(), {ComputeType::kFloat32, 2});
  ASSERT_TRUE(model.ok());
  std::size_t matrix_bytes = 0;
  for (const auto& [name, view] : tiny.views()) {
    const bool embedding = name.find("tok_embeddings") != std::string::npos;
    if (!embedding && name != "temperature") matrix_bytes += view.size() * sizeof(float);
  }
  EXPECT_GE((*model)->packed_bytes(), matrix_bytes);
  EXPECT_EQ((*model)->source().token_embedding.data, tiny.weights().token_embedding.data);
  EXPECT_EQ((*model)->weights().layers.size(), 4U);
  EXPECT_FALSE((*model)->weights().layers[0].attention_norm.present());
  EXPECT_TRUE((*model)->weights().layers[1].attention_norm.present());
}

TEST(CpuModel, SameBytesForAnyThreadCount) {
  const testing::RandomWeights tiny(testing::tiny_bert(), {1, 2}, 2);
  const auto one = CpuModel::create(tiny.weights(), nullptr, best(), {ComputeType::kFloat32, 1});
  const auto four = CpuModel::create(tiny.weights(), nullptr, best(), {ComputeType::kFloat32, 4});
  ASSERT_TRUE(one.ok() && four.ok());
  ASSERT_EQ((*one)->packed_bytes(), (*four)->packed_bytes());
  const kernels::PackedMatrix& a = (*one)->weights().layers[1].qkv;
  const kernels::PackedMatrix& b = (*four)->weights().layers[1].qkv;
  const std::size_t bytes =
      kernels::panel_count(*a.kernels, a.n, false) * a.kernels->panel_bytes(a.k);
  EXPECT_EQ(std::vector<std::byte>(a.panels, a.panels + bytes),
            std::vector<std::byte>(b.panels, b.panels + bytes));
}

// Half-precision tensors give the logits of the same numbers stored as float32.
TEST(CpuModel, EveryStoredTypeAndMixtures) {
  testing::RandomWeights tiny(testing::tiny_bert(), {1, 2}, 3);
  std::vector<std::vector<std::uint16_t>> halves;
  std::vector<std::vector<float>> rounded;
  encoder::ModelWeights stored = tiny.weights();
  encoder::ModelWeights plain = tiny.weights();
  const auto change = [&](tensor::TensorView& half, tensor::TensorView& wide, tensor::DType type) {
    auto& bits = halves.emplace_back(half.size());
    auto& values = rounded.emplace_back(half.size());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const float value = tensor::element(half, i);
      bits[i] = type == tensor::DType::kFloat16
                    ? tensor::float_to_float16(value)
                    : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
      values[i] = type == tensor::DType::kFloat16 ? tensor::float16_to_float(bits[i])
                                                  : tensor::bfloat16_to_float(bits[i]);
    }
    half = {type, half.shape, reinterpret_cast<const std::byte*>(bits.data())};
    wide = {tensor::DType::kFloat32, wide.shape, reinterpret_cast<const std::byte*>(values.data())};
  };
  using enum tensor::DType;
  change(stored.token_embedding, plain.token_embedding, kFloat16);
  change(stored.position_embedding, plain.position_embedding, kBFloat16);
  change(stored.layers[0].qkv[0].weight, plain.layers[0].qkv[0].weight, kFloat16);
  change(stored.layers[0].qkv[2].weight, plain.layers[0].qkv[2].weight, kBFloat16);
  change(stored.layers[1].mlp_in.weight, plain.layers[1].mlp_in.weight, kFloat16);
  change(stored.layers[1].mlp_in.bias, plain.layers[1].mlp_in.bias, kFloat16);
  change(stored.head_layers[0].in_proj.weight, plain.head_layers[0].in_proj.weight, kBFloat16);
  change(stored.scorer_norm.weight, plain.scorer_norm.weight, kFloat16);
  testing::TestRows rows(50);
  rows.add(30, 4);
  rows.add(7, 2);
  const kernels::KernelTable* tables[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(tables);
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<encoder::RowOutput> outputs[2];
    const encoder::ModelWeights* both[] = {&stored, &plain};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto model =
          CpuModel::create(*both[i], nullptr, *tables[t], {ComputeType::kFloat32, 1});
      ASSERT_TRUE(model.ok());
      const auto session = CpuSession::open(*model, {1, 2048});
      outputs[i].resize(2);
      ASSERT_TRUE((*session)->run(rows.rows(), outputs[i]).ok());
    }
    // Tiles multiply 16-bit weights in parts and float32 ones as they are.
    const float bound = tables[t]->isa == kernels::Isa::kAmx ? 1e-4F : 0.0F;
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t i = 0; i < outputs[0][r].logits.size(); ++i) {
        EXPECT_NEAR(outputs[0][r].logits[i], outputs[1][r].logits[i], bound) << tables[t]->name;
      }
      for (std::size_t i = 0; i < outputs[0][r].act.size(); ++i) {
        EXPECT_NEAR(outputs[0][r].act[i], outputs[1][r].act[i], bound) << tables[t]->name;
      }
    }
  }
}

TEST(CpuModel, KeepsItsOwnerAlive) {
  const testing::RandomWeights tiny(testing::tiny_modernbert(), {0, 1}, 4);
  auto owner = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = owner;
  auto model =
      CpuModel::create(tiny.weights(), std::move(owner), best(), {ComputeType::kFloat32, 1});
  ASSERT_TRUE(model.ok());
  EXPECT_FALSE(watch.expired());
  model->reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace layard::backends::cpu
