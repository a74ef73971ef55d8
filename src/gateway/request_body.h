/// A request's body on its way to devices: kept once, whatever is tried and however it is named
/// there.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/chat_request.h"
#include "http/client_types.h"

namespace layard::gateway {

/// Thread-safety: constant after construction.
class RequestBody {
 public:
  /// `memory`: what the body is counted by; kept as long as the body.
  RequestBody(std::string bytes, std::vector<ModelRange> model_ranges, std::shared_ptr<void> memory)
      : bytes_(std::move(bytes)),
        model_ranges_(std::move(model_ranges)),
        memory_(std::move(memory)) {}

  std::string_view bytes() const { return bytes_; }

  /// Puts the body into `request`, with `model` in the place of every model value; empty: as it is.
  /// A large body is handed over in pieces, so that no second one is made; it then keeps `self`.
  static void put(const std::shared_ptr<const RequestBody>& self, const std::string& model,
                  http::ClientRequest& request);

  static constexpr std::size_t kCopiedBytesMax = 256 * 1024;
  static constexpr std::size_t kPieceBytes = 64 * 1024;

 private:
  const std::string bytes_;
  const std::vector<ModelRange> model_ranges_;
  const std::shared_ptr<void> memory_;
};

}  // namespace layard::gateway
