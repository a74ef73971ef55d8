/// Where this program or library is installed.
#pragma once

#include <filesystem>

namespace layard::base {

/// Folder of the file this code was loaded from (the executable, or the shared library), with links
/// resolved; empty when the system does not say. Never the working directory, nor relative to it,
/// whatever path the file was started or found by.
std::filesystem::path install_dir();

/// The file that the kernel has mapped at `address` of this process; empty when there is none.
std::filesystem::path mapped_file(const void* address);

}  // namespace layard::base
