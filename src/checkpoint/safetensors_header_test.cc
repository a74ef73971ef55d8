#include "checkpoint/safetensors_header.h"

#include <gtest/gtest.h>

namespace layard::checkpoint {
namespace {

std::string one(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

const std::string kGood = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";

void check_loads(const std::string& json, std::uint64_t data_bytes, std::size_t tensors) {
  SCOPED_TRACE(json.substr(0, 200));
  const auto header = parse_safetensors_header(json, "f.safetensors", data_bytes);
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header->tensors.size(), tensors);
}

// Every refusal names the file; `needle` is what else the text must say.
void check_refused(const std::string& json, std::uint64_t data_bytes, const std::string& needle,
                   ErrorCode code) {
  SCOPED_TRACE(json.substr(0, 200));
  const auto header = parse_safetensors_header(json, "f.safetensors", data_bytes);
  ASSERT_FALSE(header.ok());
  EXPECT_EQ(header.error().code, code);
  EXPECT_NE(header.error().message.find("'f.safetensors'"), std::string::npos);
  EXPECT_NE(header.error().message.find(needle), std::string::npos) << header.error().message;
}

void check_damaged(const std::string& json, const std::string& needle) {
  check_refused(json, 8, needle, ErrorCode::kArtifactIntegrity);
}

TEST(SafetensorsHeader, Loads) {
  check_loads("{}", 0, 0);
  check_loads("  { }  ", 0, 0);
  check_loads(one(kGood), 8, 1);
  check_loads(one(kGood + R"(,"extra":{"x":[1,{"shape":[2.5]}],"y":null})"), 8, 1);
  check_loads(R"({"__metadata__":{"format":"pt"},"a":{)" + kGood + "}}", 8, 1);
  check_loads(R"({"__metadata__":null,"a":{)" + kGood + "}}", 8, 1);
  check_loads(one(R"("dtype":"BF16","shape":[],"data_offsets":[0,2])"), 2, 1);
  check_loads(one(R"("dtype":"F16","shape":[0,7],"data_offsets":[0,0])"), 0, 1);
  check_loads(R"({"b":{"dtype":"F16","shape":[1],"data_offsets":[2,4]},)"
              R"("a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})",
              4, 2);
}

TEST(SafetensorsHeader, OrderAndMetadata) {
  const auto header = parse_safetensors_header(
      R"({"b":{"dtype":"F16","shape":[1],"data_offsets":[2,4]},"__metadata__":{"k":"v","l":""},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]},)"
      R"("e":{"dtype":"F16","shape":[1,1],"data_offsets":[0,2]}})",
      "f", 8);
  ASSERT_TRUE(header.ok()) << header.error().message;
  ASSERT_EQ(header->tensors.size(), 3U);
  EXPECT_EQ(header->tensors[0].name, "e");
  EXPECT_EQ(header->tensors[0].shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(header->tensors[1].name, "b");
  EXPECT_EQ(header->tensors[2].name, "a");
  EXPECT_EQ(header->tensors[2].dtype, tensor::DType::kFloat32);
  ASSERT_EQ(header->metadata.size(), 2U);
  EXPECT_EQ(header->metadata[0], (std::pair<std::string, std::string>{"k", "v"}));
}

TEST(SafetensorsHeader, DamagedFields) {
  check_damaged("", "not a JSON object");
  check_damaged("[1]", "not a JSON object");
  check_damaged("\xEF\xBB\xBF{}", "not a JSON object");
  check_damaged("{\"a\":", "header");
  check_damaged("{} x", "header");
  check_damaged("{\"a\":5}", "tensor 'a': the entry is a number");
  check_damaged("{\"a\":null}", "tensor 'a': the entry is null");
  check_damaged(one(R"("shape":[2],"data_offsets":[0,8])"), "'dtype' is missing");
  check_damaged(one(R"("dtype":"F32","data_offsets":[0,8])"), "'shape' is missing");
  check_damaged(one(R"("dtype":"F32","shape":[2])"), "'data_offsets' is missing");
  check_damaged(one(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])"), "unknown dtype 'F31'");
  check_damaged(one(R"("dtype":4,"shape":[2],"data_offsets":[0,8])"), "'dtype'");
  check_damaged(one(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), "'shape'");
  check_damaged(one(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), "'shape'");
  check_damaged(one(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"), "'shape'");
  check_damaged(one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "shape has -2");
  check_damaged(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8.0])"), "data_offsets has 8.0");
  check_damaged(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,1e1])"), "data_offsets has 1e1");
  check_damaged(one(R"("dtype":"F32","shape":[2],"data_offsets":[8])"), "not two numbers");
  check_damaged(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), "more than 2 numbers");
  check_damaged(one(R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],)"
                    R"("data_offsets":[0,8])"),
                "more than 16 numbers");
  check_damaged(R"({"__metadata__":{"k":1}})", "'k'");
  check_damaged(R"({"__metadata__":{"k":["v"]}})", "'k'");
  check_damaged(R"({"__metadata__":"text"})", "__metadata__");
}

TEST(SafetensorsHeader, DamagedRanges) {
  check_damaged(one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "before it begins");
  check_damaged(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "needs 12 bytes");
  check_damaged(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"),
                "overflows");
  check_damaged(one(R"("dtype":"F16","shape":[0,9223372036854775808],"data_offsets":[0,8])"),
                "overflows");
  check_damaged(one(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])"),
                "not a whole number");
  check_damaged(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), "a hole before its data");
  check_damaged(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "end at 4");
  check_damaged(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])"), "only 8 bytes");
  check_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                "tensor 'b': its data begins at 4, inside another");
}

TEST(SafetensorsHeader, DuplicatesAreRefused) {
  check_damaged("{\"a\":{" + kGood + "},\"a\":{" + kGood + "}}",
                "tensor 'a': the name appears twice");
  check_damaged(one(kGood + ",\"shape\":[2]"), "field 'shape' appears twice");
  check_damaged(R"({"__metadata__":{"k":"v","k":"v"}})", "field 'k' appears twice");
  check_damaged(R"({"__metadata__":{},"__metadata__":{}})", "appears twice");
}

TEST(SafetensorsHeader, OtherDtypesAreNamed) {
  check_refused(one(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])"), 8,
                "tensor 'a': dtype I64 is not one of F16, BF16, F32", ErrorCode::kUnsupportedModel);
  check_refused(one(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"), 8, "F8_E4M3",
                ErrorCode::kUnsupportedModel);
}

TEST(SafetensorsHeader, TensorCountIsBounded) {
  std::string json = "{";
  for (std::size_t i = 0; i <= kSafetensorsTensorsMax; ++i) {
    json += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
            R"(":{"dtype":"F16","shape":[0],"data_offsets":[0,0]})";
  }
  check_damaged(json + "}", "more than 65536 tensors");
}

}  // namespace
}  // namespace layard::checkpoint
