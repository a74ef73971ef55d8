#include "checkpoint/safetensors.h"

#include <array>
#include <cstring>

#include "checkpoint/safetensors_header.h"

namespace layard::checkpoint {
namespace {

constexpr std::size_t kLengthBytes = 8;

// Elements examined between two looks at the result; long enough to vectorise, short enough that
// the search for the exact index afterwards costs nothing.
constexpr std::size_t kBlock = 4096;

// Whether any of `count` elements at `data` has all bits of `exponent` set. No branch in the loop,
// so the compiler can use vectors.
template <class Bits>
bool any_non_finite(const std::byte* data, std::size_t count, Bits exponent) {
  Bits found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
    found = static_cast<Bits>(found | ((bits & exponent) == exponent ? 1U : 0U));
  }
  return found != 0;
}

bool any_non_finite(tensor::DType dtype, const std::byte* data, std::size_t count) {
  switch (dtype) {
    case tensor::DType::kFloat16:
      return any_non_finite<std::uint16_t>(data, count, 0x7C00);
    case tensor::DType::kBFloat16:
      return any_non_finite<std::uint16_t>(data, count, 0x7F80);
    case tensor::DType::kFloat32:
      break;
  }
  return any_non_finite<std::uint32_t>(data, count, 0x7F800000);
}

// Index of the first NaN or infinity, or size().
std::size_t find_non_finite(const tensor::TensorView& view) {
  const std::size_t size = view.size();
  const std::size_t width = tensor::dtype_bytes(view.dtype);
  for (std::size_t start = 0; start < size; start += kBlock) {
    const std::size_t count = std::min(kBlock, size - start);
    if (!any_non_finite(view.dtype, view.data + start * width, count)) continue;
    for (std::size_t i = start; i < start + count; ++i) {
      if (any_non_finite(view.dtype, view.data + i * width, 1)) return i;
    }
  }
  return size;
}

Error damaged(const std::filesystem::path& path, const std::string& problem) {
  return {ErrorCode::kArtifactIntegrity, "safetensors file '" + path.string() + "': " + problem +
                                             "; the file is damaged, get it again"};
}

// The header's length, compared with the file before it is used for anything.
Result<std::uint64_t> read_header_length(const base::ReadOnlyFile& file,
                                         const std::filesystem::path& path) {
  if (file.size_bytes() < kLengthBytes) {
    return damaged(path, "it has " + std::to_string(file.size_bytes()) +
                             " bytes, fewer than the 8 of the header's length");
  }
  std::array<std::byte, kLengthBytes> raw{};
  LAYARD_TRY(file.read_at(0, raw));
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = (length << 8U) | std::to_integer<std::uint64_t>(raw[i]);
  }
  if (length > kSafetensorsHeaderBytesMax) {
    return damaged(path, "a header of " + std::to_string(length) + " bytes is over the limit of " +
                             std::to_string(kSafetensorsHeaderBytesMax));
  }
  if (length > file.size_bytes() - kLengthBytes) {
    return damaged(path, "a header of " + std::to_string(length) + " bytes does not fit in " +
                             std::to_string(file.size_bytes()));
  }
  return length;
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  LAYARD_ASSIGN(const base::ReadOnlyFile file, base::ReadOnlyFile::open(path));
  LAYARD_ASSIGN(const std::uint64_t length, read_header_length(file, path));
  const std::uint64_t data_begin = kLengthBytes + length;

  std::string text(static_cast<std::size_t>(length), '\0');
  LAYARD_TRY(
      file.read_at(kLengthBytes, std::as_writable_bytes(std::span(text.data(), text.size()))));
  LAYARD_ASSIGN(SafetensorsHeader header,
                parse_safetensors_header(text, path.string(), file.size_bytes() - data_begin));
  SafetensorsFile result;
  result.path_ = path;
  LAYARD_ASSIGN(result.mapping_, file.map());
  const std::byte* data = result.mapping_.bytes().data() + data_begin;
  for (TensorRange& range : header.tensors) {
    result.tensors_.emplace(
        range.name, tensor::TensorView{range.dtype, std::move(range.shape), data + range.begin});
    result.names_.push_back(std::move(range.name));
  }
  result.metadata_ = std::move(header.metadata);
  return result;
}

const tensor::TensorView* SafetensorsFile::find(std::string_view name) const noexcept {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Status SafetensorsFile::check_finite() const {
  for (const std::string& name : names_) {
    const tensor::TensorView& view = *find(name);
    const std::size_t index = find_non_finite(view);
    if (index == view.size()) continue;
    return Error{ErrorCode::kArtifactIntegrity,
                 "safetensors file '" + path_.string() + "', tensor '" + name + "': element " +
                     std::to_string(index) + " is not finite (" +
                     std::to_string(tensor::element(view, index)) +
                     "); the weights are damaged, get the file again"};
  }
  return {};
}

}  // namespace layard::checkpoint
