#include "http/refusal.h"

#include <array>

namespace layard::http {
namespace {

using enum RefusalReason;

constexpr std::array<RefusalInfo, kRefusalReasons> kTable{{
    {kRequestLine, "request_line", 400},
    {kVersion, "version", 400},
    {kTarget, "target", 400},
    {kTargetSize, "target_size", 414},
    {kField, "field", 400},
    {kControlByte, "control_byte", 400},
    {kFieldCount, "field_count", 431},
    {kHeadSize, "head_size", 431},
    {kHost, "host", 400},
    {kTransferEncoding, "transfer_encoding", 400},
    {kContentLength, "content_length", 400},
    {kUpgrade, "upgrade", 400},
    {kExpectation, "expectation", 417},
    {kChunk, "chunk", 400},
    {kBodySize, "body_size", 413},
    {kContentEncoding, "content_encoding", 415},
    {kCompressedBody, "compressed_body", 400},
    {kHeadTime, "head_time", 408},
    {kBodyTime, "body_time", 408},
    {kBodyMemory, "body_memory", 503},
    {kConnections, "connections", 503},
    {kUnanswered, "unanswered", 500},
}};

}  // namespace

std::span<const RefusalInfo> refusal_table() noexcept { return kTable; }

std::string_view refusal_name(RefusalReason reason) noexcept {
  return kTable[static_cast<std::size_t>(reason)].name;
}

int refusal_status(RefusalReason reason) noexcept {
  return kTable[static_cast<std::size_t>(reason)].status;
}

}  // namespace layard::http
