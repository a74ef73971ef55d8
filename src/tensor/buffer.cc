#include "tensor/buffer.h"

#include <sys/mman.h>

#include <new>

namespace layard::tensor {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

Buffer::Buffer(std::size_t floats) : size_(floats) {
  if (floats == 0) return;
  if (floats > (std::size_t{1} << 46)) throw std::bad_alloc();
  const std::size_t bytes = floats * sizeof(float);
  // Mapped memory is page-aligned, zeroed, and returned to the system when released.
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= kLargePage) ::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: may be refused
#endif
  data_ = std::unique_ptr<float, Release>(static_cast<float*>(memory), Release{bytes});
}

void Buffer::Release::operator()(float* memory) const noexcept { ::munmap(memory, bytes); }

}  // namespace layard::tensor
