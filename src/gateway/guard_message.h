/// What a gateway and the guard process of a backend say to each other: short texts, each one
/// packet of a socket of type SOCK_SEQPACKET.
///
///     to the guard    stop, kill
///     from the guard  started PID; then exited CODE or signaled NUMBER
///                     or at once: failed ERRNO (the program), no-folder ERRNO (its folder)
///
/// The guard ends after `exited`, `signaled`, `failed` and `no-folder`.
/// Thread-safety: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace layard::gateway {

/// Bytes of a message at most; a longer packet is none.
inline constexpr std::size_t kGuardMessageBytesMax = 32;

enum class GuardWord : std::uint8_t {
  kStop,
  kKill,
  kStarted,
  kExited,
  kSignaled,
  kFailed,
  kNoFolder,
};

struct GuardMessage {
  GuardWord word = GuardWord::kStop;
  int value = 0;  ///< 0 or more; 0 for kStop and kKill

  friend bool operator==(const GuardMessage&, const GuardMessage&) = default;
};

std::string write_guard_message(const GuardMessage& message);

/// The message, or nothing where the text is none.
std::optional<GuardMessage> read_guard_message(std::string_view text);

}  // namespace layard::gateway
