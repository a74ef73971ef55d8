/// SHA-256 of bytes and files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "layard/error.h"

namespace layard::base {

/// Hash of bytes that arrive in pieces. Move-only. Thread-safety: one caller at a time.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }

  /// The hash of all bytes so far as 64 lower-case hex digits; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 64 lower-case hex digits of `text`'s hash.
std::string sha256_hex(std::string_view text);

/// The same of a regular file's bytes, read in pieces of 1 MiB.
/// Errors: kIo; kCancelled when `stop` is requested meanwhile.
Result<std::string> sha256_file(const std::filesystem::path& path, const std::stop_token& stop);

/// Whether `text` is exactly 64 lower-case hex digits.
bool is_sha256_hex(std::string_view text);

}  // namespace layard::base
