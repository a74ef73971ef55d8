/// Who may use the gateway: the Host and Origin rules, and the callers' keys.
/// Thread-safety: constant after construction.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "layard/error.h"

namespace layard::gateway {

/// Callers that one file may name.
inline constexpr std::size_t kCallersMax = 1024;

/// One caller: a name for logs and limits, and the secret that says who it is.
struct CallerKey {
  std::string name;
  std::string key;
};

/// Reads `NAME KEY`, one a line; empty lines and lines that begin with `#` are passed over.
/// Bounds: kCallersMax; a name of 64 letters, digits and `._:/-`; a key of 8 to 4,096 printable
/// ASCII characters. Errors: kInvalidRequest naming `source` and the line; never a key.
Result<std::vector<CallerKey>> read_caller_keys(std::string_view text, const std::string& source);

class Callers {
 public:
  /// `loopback_only`: the gateway is bound to a loopback address. `allowed_hosts`: names (without
  /// port, lower case) that the Host field may have besides.
  Callers(bool loopback_only, std::vector<std::string> allowed_hosts, std::vector<CallerKey> keys);

  /// Whether the Host field is one that the gateway answers to.
  bool takes_host(const http::Fields& fields) const;
  bool needs_key() const { return !keys_.empty(); }
  /// The caller by `Authorization: Bearer KEY` or `X-Api-Key: KEY`; empty where no key is asked
  /// for; nothing when it is to be refused. Takes a time that does not depend on the keys.
  std::optional<std::string> caller_of(const http::Fields& fields) const;

 private:
  bool loopback_only_;
  std::vector<std::string> allowed_hosts_;
  std::vector<CallerKey> keys_;
};

}  // namespace layard::gateway
