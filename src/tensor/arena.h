/// Working memory of one session: sized before a pass, cut by the pass, kept between passes.
#pragma once

#include <cstddef>

#include "base/checks.h"
#include "tensor/buffer.h"

namespace layard::tensor {

/// Hands out 64-byte aligned blocks from one Buffer.
/// Thread-safety: one caller at a time; the blocks are plain memory.
class Arena {
 public:
  /// What a block of `floats` takes, for sizing.
  static constexpr std::size_t footprint(std::size_t floats) { return (floats + 15) / 16 * 16; }

  /// Starts a pass that takes at most `floats` (a sum of footprints). All earlier blocks end.
  /// Allocates only when more is needed than ever before.
  void begin(std::size_t floats) {
    used_ = 0;
    if (floats <= buffer_.size()) return;
    buffer_ = Buffer();  // the old memory goes before the new comes
    buffer_ = Buffer(floats);
  }

  /// The next block; its content is whatever was there.
  float* take(std::size_t floats) {
    LAYARD_CHECK(footprint(floats) <= buffer_.size() - used_);
    float* block = buffer_.data() + used_;
    used_ += footprint(floats);
    return block;
  }

  std::size_t capacity() const { return buffer_.size(); }

 private:
  Buffer buffer_;
  std::size_t used_ = 0;
};

}  // namespace layard::tensor
