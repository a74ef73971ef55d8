#include "tensor/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <utility>

#include "tensor/arena.h"

namespace layard::tensor {
namespace {

TEST(Buffer, IsAlignedZeroedAndMoves) {
  for (const std::size_t size : {1, 15, 1000, 1 << 20}) {
    Buffer buffer(size);
    ASSERT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    EXPECT_EQ(buffer.data()[0], 0.0F);
    EXPECT_EQ(buffer.data()[size - 1], 0.0F);
    buffer.data()[size - 1] = 3.0F;
    const Buffer moved = std::move(buffer);
    EXPECT_EQ(moved.data()[size - 1], 3.0F);
  }
  EXPECT_EQ(Buffer(0).data(), nullptr);
  EXPECT_THROW(Buffer(std::size_t{1} << 60), std::bad_alloc);
}

TEST(Buffer, StridesAreAlignedAndAvoidCacheConflicts) {
  for (std::size_t columns = 1; columns < 5000; ++columns) {
    const std::size_t stride = padded_stride(columns);
    EXPECT_GE(stride, columns);
    EXPECT_LE(stride, columns + 31);
    EXPECT_EQ(stride % 16, 0U);
    EXPECT_NE(stride % 1024, 0U);
  }
}

TEST(Arena, KeepsItsMemoryAndSeparatesBlocks) {
  Arena arena;
  arena.begin(Arena::footprint(10) + Arena::footprint(100));
  float* first = arena.take(10);
  float* second = arena.take(100);
  EXPECT_GE(second - first, 10);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 64, 0U);
  const std::size_t capacity = arena.capacity();
  arena.begin(16);
  EXPECT_EQ(arena.take(16), first);
  EXPECT_EQ(arena.capacity(), capacity);
  arena.begin(capacity + 1);
  EXPECT_GT(arena.capacity(), capacity);
}

TEST(ArenaDeathTest, RefusesMoreThanWasAskedFor) {
  Arena arena;
  arena.begin(32);
  arena.take(16);
  EXPECT_DEATH(arena.take(17), "footprint");
}

}  // namespace
}  // namespace layard::tensor
