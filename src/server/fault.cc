#include "server/fault.h"

#include <algorithm>

#include "base/json.h"

namespace layard::server {
namespace {

// Messages repeat names and types of the request, which may be as long as its body.
constexpr std::size_t kDetailBytesMax = 2000;

Fault unavailable(const FailedModel& model) {
  if (model.name.empty()) return {503, "the model is unavailable on this server"};
  std::string text = "model " + model.name + " is unavailable on this server";
  if (model.is_downloadable) {
    text += "; `layard download " + model.name + "` on its machine fetches it";
  }
  return {503, std::move(text)};
}

}  // namespace

Fault fault_of(const Error& error, const FailedModel& model) {
  switch (error.code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kUnsupportedShape:
    case ErrorCode::kOverloaded:
      return {error_info(error.code).http_status, shortened(error.message, kDetailBytesMax)};
    case ErrorCode::kCancelled:
      return {503, "the server is shutting down; try again elsewhere or later"};
    case ErrorCode::kUnsupportedModel:  // of a checkpoint whose name was found: not the client's
    case ErrorCode::kBackendUnavailable:
    case ErrorCode::kArtifact:
    case ErrorCode::kArtifactMissing:
    case ErrorCode::kArtifactRevision:
    case ErrorCode::kArtifactIntegrity:
    case ErrorCode::kArtifactParity:
    case ErrorCode::kComputeUnitMismatch:
      return unavailable(model);
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      break;
  }
  return {500, "inference failed"};
}

http::Response json_response(int status, std::string json) {
  http::Response response = http::make_response(status, "application/json", std::move(json));
  response.fields.add("Cache-Control", "no-store");
  response.fields.add("X-Content-Type-Options", "nosniff");
  return response;
}

http::Response fault_response(const Fault& fault, std::int64_t retry_after_ms) {
  http::Response response =
      json_response(fault.status, "{\"detail\":" + base::quote_json(fault.detail) + "}");
  if (fault.status == 429 || fault.status == 503) {
    add_retry_after(response, retry_after_ms);
  }
  return response;
}

void add_retry_after(http::Response& response, std::int64_t retry_after_ms) {
  const std::int64_t wait_ms = std::max<std::int64_t>(1, retry_after_ms);
  response.fields.add("retry-after-ms", std::to_string(wait_ms));
  response.fields.add("Retry-After", std::to_string((wait_ms + 999) / 1000));
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace layard::server
