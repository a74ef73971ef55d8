#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "base/json.h"
#include "support/shared_dir.h"
#include "support/temp_dir.h"
#include "support/tiny_checkpoint.h"

namespace layard::checkpoint {
namespace {

using testing::TempDir;
using testing::TinyTensor;
using testing::write_file;

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return bytes;
}

// The error of opening `bytes` as a file.
Error open_error(const std::string& bytes) {
  const TempDir folder;
  write_file(folder / "w.safetensors", bytes);
  const auto file = SafetensorsFile::open(folder / "w.safetensors");
  EXPECT_FALSE(file.ok());
  return file.ok() ? Error{} : file.error();
}

TEST(Safetensors, ViewsOfEveryDtype) {
  const std::vector<TinyTensor> tensors{
      {"scalar", {}, {0.5F}}, {"matrix", {2, 3}, {1, -2, 3, -4, 5, -6}}, {"empty", {0, 4}, {}}};
  for (const auto dtype :
       {tensor::DType::kFloat32, tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
    const TempDir folder;
    write_file(folder / "w.safetensors", testing::safetensors_bytes(tensors, dtype));
    auto opened = SafetensorsFile::open(folder / "w.safetensors");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    // Views survive a move of their file.
    const tensor::TensorView* matrix = opened->find("matrix");
    const SafetensorsFile file = *std::move(opened);
    ASSERT_EQ(file.find("matrix"), matrix);
    EXPECT_EQ(file.names().size(), 3U);
    EXPECT_EQ(file.names().front(), "scalar");
    EXPECT_EQ(file.find("missing"), nullptr);
    EXPECT_EQ(file.find("empty")->size(), 0U);
    ASSERT_NE(matrix, nullptr);
    EXPECT_EQ(matrix->dtype, dtype);
    EXPECT_EQ(matrix->shape, (tensor::Shape{2, 3}));
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(tensor::element(*matrix, i), tensors[1].values[i]);
    }
    EXPECT_EQ(tensor::element(*file.find("scalar"), 0), 0.5F);
    EXPECT_TRUE(file.check_finite().ok());
  }
}

TEST(Safetensors, HeaderLengthIsCheckedFirst) {
  EXPECT_NE(open_error("").message.find("0 bytes"), std::string::npos);
  EXPECT_NE(open_error("1234567").message.find("7 bytes"), std::string::npos);
  EXPECT_NE(open_error(little_endian(0)).message.find("not a JSON object"), std::string::npos);
  EXPECT_NE(open_error(little_endian(3) + "{}").message.find("does not fit"), std::string::npos);
  const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t length :
       {highest, highest - 4, highest - 8, std::uint64_t{100'000'001}}) {
    const Error error = open_error(little_endian(length) + "{}");
    EXPECT_EQ(error.code, ErrorCode::kArtifactIntegrity);
    EXPECT_NE(error.message.find("over the limit of 100000000"), std::string::npos)
        << error.message;
  }
  EXPECT_NE(open_error(little_endian(100'000'000) + "{}").message.find("does not fit"),
            std::string::npos);
}

TEST(Safetensors, NotAFile) {
  const TempDir folder;
  const auto absent = SafetensorsFile::open(folder / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kIo);
  const auto directory = SafetensorsFile::open(folder.path());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().code, ErrorCode::kIo);
}

// A value at `index` of a large tensor is found there, in every dtype.
void check_non_finite(tensor::DType dtype, float value, std::size_t index) {
  std::vector<float> values(10'000, 1.0F);
  values[index] = value;
  const TempDir folder;
  write_file(folder / "w", testing::safetensors_bytes(
                               {{"good", {3}, {1, 2, 3}}, {"bad", {100, 100}, values}}, dtype));
  const auto file = SafetensorsFile::open(folder / "w");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const Status status = file->check_finite();
  ASSERT_FALSE(status.ok()) << index;
  EXPECT_EQ(status.error().code, ErrorCode::kArtifactIntegrity);
  const std::string expected = "tensor 'bad': element " + std::to_string(index) + " is not finite";
  EXPECT_NE(status.error().message.find(expected), std::string::npos) << status.error().message;
}

TEST(Safetensors, NonFiniteIsNamed) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto dtype :
       {tensor::DType::kFloat32, tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
    check_non_finite(dtype, infinity, 0);
    check_non_finite(dtype, -infinity, 4095);
    check_non_finite(dtype, nan, 4096);
    check_non_finite(dtype, nan, 9999);
  }
}

// The recorded answers of the reference library; one is ours to refuse (a duplicate name).
TEST(Safetensors, SharedBugInputs) {
  LAYARD_REQUIRE_SHARED(shared);
  const auto folder = shared / "bug-inputs" / "safetensors";
  const auto expected = base::parse_json(testing::read_file(folder / "expected.json"), {});
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  ASSERT_GT(expected->size(), 25U);
  for (const base::JsonValue& row : expected->items()) {
    const std::string name = row.find("file")->text();
    SCOPED_TRACE(name);
    const bool loads =
        row.find("safetensors_0_8_0")->text() == "LOADS" && name != "dup-key-same.safetensors";
    const auto file = SafetensorsFile::open(folder / name);
    EXPECT_EQ(file.ok(), loads) << (file.ok() ? "" : file.error().message);
    if (file.ok()) {
      EXPECT_EQ(file->check_finite().ok(), name != "nan-weight.safetensors");
    } else {
      EXPECT_EQ(file.error().code, ErrorCode::kArtifactIntegrity);
      EXPECT_NE(file.error().message.find(name), std::string::npos) << file.error().message;
    }
  }
}

}  // namespace
}  // namespace layard::checkpoint
