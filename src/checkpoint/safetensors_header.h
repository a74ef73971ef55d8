/// The header of a safetensors file: JSON text in, checked tensor ranges out. Pure.
/// Source: the safetensors format and its Rust library 0.8.0 (what loads and what is refused);
/// departs: every duplicate name is refused, also where both entries agree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layard/error.h"
#include "tensor/tensor.h"

namespace layard::checkpoint {

/// Bytes of header text a file may have; the format's own limit.
inline constexpr std::uint64_t kSafetensorsHeaderBytesMax = 100'000'000;
/// Entries and dimensions beyond these are refused; real checkpoints have some hundred and 2.
inline constexpr std::size_t kSafetensorsTensorsMax = 65'536;
inline constexpr std::size_t kSafetensorsRankMax = 16;

/// One tensor's place in the data that follows the header.
struct TensorRange {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  tensor::Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  /// Ordered by place in the data (empty tensors before the one that starts at the same byte);
  /// together they cover it without a hole.
  std::vector<TensorRange> tensors;
  /// The strings of `__metadata__`, in file order.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Reads `json`, the header text of the file called `file` in messages, whose data part has
/// `data_bytes` bytes.
/// Errors (each names the file and, where there is one, the tensor): kArtifactIntegrity for
/// anything malformed: not a JSON object, duplicate names, missing or bad fields, unknown dtype,
/// shape against byte range, overflow, overlap, hole, data left over; kUnsupportedModel for a
/// dtype the format knows and we do not compute with (I64, F8_E4M3, ...).
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::string_view file,
                                                   std::uint64_t data_bytes);

}  // namespace layard::checkpoint
