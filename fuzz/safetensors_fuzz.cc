// Any bytes as a safetensors file: refused with a typed error that names the file, or every tensor
// it names can be read to its last element.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checkpoint/safetensors.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// A file in memory: as many runs a second as possible, and nothing left behind.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) { require(descriptor_ >= 0); }
  ~MemoryFile() { ::close(descriptor_); }
  std::string fill(const std::uint8_t* data, std::size_t size) const {
    require(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0);
    require(::pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size));
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using layard::ErrorCode;
  static const MemoryFile memory;
  const std::string path = memory.fill(data, size);
  const auto file = layard::checkpoint::SafetensorsFile::open(path);
  if (!file.ok()) {
    const ErrorCode code = file.error().code;
    require(code == ErrorCode::kArtifactIntegrity || code == ErrorCode::kUnsupportedModel);
    require(file.error().message.find(path) != std::string::npos);
    return 0;
  }
  std::size_t bytes = 0;
  for (const std::string& name : file->names()) {
    const layard::tensor::TensorView* view = file->find(name);
    require(view != nullptr);
    bytes += view->size() * layard::tensor::dtype_bytes(view->dtype);
    if (view->size() > 0) (void)layard::tensor::element(*view, view->size() - 1);
  }
  require(bytes < size);
  (void)file->check_finite();
  return 0;
}
