/// Memory that owns itself: one aligned block of floats.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace layard::tensor {

/// Floats between rows of a matrix of `columns`: 64-byte aligned rows, and never a multiple of
/// 4 KiB, where rows below each other would compete for the same cache lines.
constexpr std::size_t padded_stride(std::size_t columns) {
  const std::size_t aligned = (columns + 15) / 16 * 16;
  return aligned % 256 == 0 ? aligned + 16 : aligned;
}

/// A block of zeroed floats, 64-byte aligned; from 2 MiB on, the system is asked for large pages.
/// Move-only. Throws std::bad_alloc when there is no memory.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t floats);

  float* data() noexcept { return data_.get(); }
  const float* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(float* memory) const noexcept;
  };

  std::unique_ptr<float, Release> data_;
  std::size_t size_ = 0;
};

}  // namespace layard::tensor
