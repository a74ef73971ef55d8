#include "backends/cpu/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/tiny_weights.h"
#include "tensor/buffer.h"

namespace layard::backends::cpu {
namespace {

using kernels::LinearFormat;
using tensor::DType;

// Every table: the formats that a role and a stored type lead to.
TEST(Packing, FormatsByRoleAndType) {
  const kernels::KernelTable* tables[kernels::kIsas] = {};
  const std::size_t count = kernels::supported_kernels(tables);
  for (std::size_t i = 0; i < count; ++i) {
    const kernels::KernelTable& table = *tables[i];
    std::size_t depth = 1024;
    const auto check = [&](ComputeType type, Role role, DType stored, LinearFormat expected) {
      EXPECT_EQ(&Formats(table, type).of(role, stored, depth), &table.of(expected))
          << table.name << " " << compute_type_name(type) << " " << depth;
    };
    const LinearFormat beside_int8 =
        table.isa == kernels::Isa::kAmx ? LinearFormat::kBFloat16 : LinearFormat::kFloat16Weights;
    using enum LinearFormat;
    check(ComputeType::kFloat32, Role::kMiddle, DType::kFloat16, kFloat16Weights);
    check(ComputeType::kFloat32, Role::kMiddle, DType::kBFloat16, kBFloat16Weights);
    check(ComputeType::kFloat32, Role::kSensitive, DType::kFloat32, LinearFormat::kFloat32);
    check(ComputeType::kFloat16, Role::kMiddle, DType::kFloat32, kFloat16Weights);
    check(ComputeType::kBFloat16, Role::kSensitive, DType::kFloat16, LinearFormat::kBFloat16);
    check(ComputeType::kInt8, Role::kMiddle, DType::kFloat16, LinearFormat::kInt8);
    check(ComputeType::kInt8, Role::kSensitive, DType::kFloat16, beside_int8);
    for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kFloat16,
                                   ComputeType::kBFloat16, ComputeType::kInt8}) {
      check(type, Role::kScorer, DType::kFloat16, LinearFormat::kFloat32);
    }
    // Deeper sums of int8 products could leave 32 bits.
    depth = kernels::kInt8DepthMax;
    check(ComputeType::kInt8, Role::kMiddle, DType::kFloat16, LinearFormat::kInt8);
    depth += 1;
    check(ComputeType::kInt8, Role::kMiddle, DType::kFloat16, beside_int8);
  }
}

TEST(Packing, NamesOfComputeTypes) {
  for (const char* name : {"float32", "float16", "bfloat16", "int8"}) {
    EXPECT_EQ(compute_type_name(*parse_compute_type(name)), name);
  }
  EXPECT_FALSE(parse_compute_type("auto").has_value());
  EXPECT_FALSE(parse_compute_type("").has_value());
}

// The same shapes give the same places: what one process filled, another may point into.
TEST(Packing, PlacesDependOnShapesOnly) {
  const testing::RandomWeights tiny(testing::tiny_modernbert(), {2, 2}, 3);
  const testing::RandomWeights other(testing::tiny_modernbert(), {2, 2}, 4);
  const kernels::KernelTable& table = **kernels::select_kernels("scalar");
  const Formats formats(table, ComputeType::kInt8);
  PackedWeights targets[2];
  Packing first(tiny.weights(), formats, targets[0]);
  Packing second(other.weights(), formats, targets[1]);
  ASSERT_EQ(first.floats(), second.floats());
  tensor::Buffer memory(first.floats());
  first.place(memory.data());
  second.place(memory.data());
  EXPECT_EQ(targets[0].layers[1].qkv.panels, targets[1].layers[1].qkv.panels);
  EXPECT_EQ(targets[0].scorer_norm.weight, targets[1].scorer_norm.weight);
  EXPECT_EQ(targets[0].act_out.panels, targets[1].act_out.panels);
  ThreadPool pool(2);
  first.fill(pool);
  EXPECT_NE(targets[0].final_norm.weight[0], 0.0F);
}

TEST(Packing, WeightsBeyondFloat16AreRefused) {
  const testing::RandomWeights tiny(testing::tiny_modernbert(), {1, 2}, 5);
  const kernels::KernelTable& table = **kernels::select_kernels("scalar");
  const Formats formats(table, ComputeType::kFloat16);
  encoder::ModelWeights weights = tiny.weights();
  PackedWeights target;
  EXPECT_TRUE(Packing(weights, formats, target).check_float16_range().ok());
  tensor::TensorView& view = weights.layers[0].mlp_out.weight;
  std::vector<float> values(view.size());
  tensor::to_float(view, 0, values);
  values.back() = 70000.0F;
  view = {DType::kFloat32, view.shape, reinterpret_cast<const std::byte*>(values.data())};
  PackedWeights wide;
  const Status status = Packing(weights, formats, wide).check_float16_range();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(status.error().message.find("float32"), std::string::npos);
}

}  // namespace
}  // namespace layard::backends::cpu
