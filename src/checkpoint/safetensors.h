/// A safetensors file mapped into memory: named tensors as views, nothing copied.
///
/// Invariants: every view lies inside the mapping; header and ranges were checked before anything
/// sized by the file was allocated or mapped.
/// Thread-safety: immutable after open(); any number of readers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "layard/error.h"
#include "tensor/tensor.h"

namespace layard::checkpoint {

/// Move-only owner of one mapped file. Views it hands out live as long as it does; moving it
/// keeps them valid.
class SafetensorsFile {
 public:
  /// Maps `path` and checks its header.
  /// Errors: kIo (cannot be read), kArtifactIntegrity (malformed; names file and tensor),
  /// kUnsupportedModel (a tensor of a dtype other than F16, BF16, F32).
  static Result<SafetensorsFile> open(const std::filesystem::path& path);

  SafetensorsFile(SafetensorsFile&&) noexcept = default;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept = default;

  /// The tensor called `name`, or null. `data` may be unaligned for its element type.
  const tensor::TensorView* find(std::string_view name) const noexcept;

  /// All names in the order of their data.
  const std::vector<std::string>& names() const noexcept { return names_; }

  /// The strings of `__metadata__`, in file order.
  const std::vector<std::pair<std::string, std::string>>& metadata() const noexcept {
    return metadata_;
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  /// Reads every element once. Errors: kArtifactIntegrity naming the first tensor (in the order
  /// of names()) and index with a NaN or an infinity.
  Status check_finite() const;

  /// Gives the memory of tensors read so far back; views stay valid and read the file again.
  void forget_pages() const noexcept { mapping_.forget_pages(); }

 private:
  SafetensorsFile() = default;

  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>()(name);
    }
  };

  std::filesystem::path path_;
  base::MappedFile mapping_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, tensor::TensorView, NameHash, std::equal_to<>> tensors_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace layard::checkpoint
