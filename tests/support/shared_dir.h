/// Where the reference outputs live, for tests that compare with them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace layard::testing {

/// The folder with goldens/ and bug-inputs/, or an empty path when this machine has none.
inline std::filesystem::path shared_dir() {
  const char* named = std::getenv("LAYARD_SHARED");
  const std::filesystem::path path =
      named != nullptr ? named : std::string(LAYARD_SOURCE_DIR) + "/../shared";
  return std::filesystem::is_directory(path / "goldens") ? path : std::filesystem::path();
}

}  // namespace layard::testing

/// Skips the current test, saying why, where the reference outputs are absent.
#define LAYARD_REQUIRE_SHARED(variable)                  \
  const auto variable = ::layard::testing::shared_dir(); \
  if (variable.empty())                                  \
  GTEST_SKIP() << "no shared/ folder with reference outputs beside the checkout"
