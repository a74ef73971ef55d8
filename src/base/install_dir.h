/// Where this program or library is installed.
#pragma once

#include <filesystem>

namespace layard::base {

/// Folder of the file this code was loaded from (the executable, or the shared library), with links
/// resolved; empty when the system does not say. Never the working directory.
std::filesystem::path install_dir();

}  // namespace layard::base
