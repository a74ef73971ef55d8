#include "http/chunk_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace layard::http {
namespace {

struct Decoded {
  ChunkDecoder::State state = ChunkDecoder::State::kMore;
  std::string data;
  std::size_t left = 0;  // bytes after the body
};

Decoded decode(std::string_view body, std::size_t piece_bytes, const ChunkLimits& limits) {
  ChunkDecoder decoder(limits);
  Decoded result;
  while (!body.empty()) {
    std::string_view piece = body.substr(0, piece_bytes);
    body.remove_prefix(piece.size());
    do {
      std::string_view data;
      result.state = decoder.next(piece, data);
      result.data += data;
    } while (result.state == ChunkDecoder::State::kData);
    result.left = piece.size() + body.size();
    if (result.state != ChunkDecoder::State::kMore) return result;
  }
  return result;
}

// Every body is read whole, byte by byte and in threes: how it is cut must not matter.
void check(std::string_view body, std::optional<std::string_view> expected, std::size_t left) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, body.size()}) {
    const auto result = decode(body, piece, {.extension_bytes_max = 16, .trailer_bytes_max = 32});
    const auto wanted = expected ? ChunkDecoder::State::kDone : ChunkDecoder::State::kRefused;
    EXPECT_EQ(result.state, wanted) << body << " in pieces of " << piece;
    if (!expected) continue;
    EXPECT_EQ(result.data, *expected) << body << " in pieces of " << piece;
    EXPECT_EQ(result.left, left) << body << " in pieces of " << piece;
  }
}

TEST(HttpChunkDecoder, Bodies) {
  check("0\r\n\r\n", "", 0);
  check("2\r\nab\r\n0\r\n\r\nGET /", "ab", 5);
  check("1\r\na\r\nA\r\n0123456789\r\n00\r\n\r\n", "a0123456789", 0);
  check("0000000000000002\r\nab\r\n0\r\n\r\n", "ab", 0);
  check("2;a=\"b\"\r\nab\r\n0 ;c\r\n\r\n", "ab", 0);
  check("2\r\n\r\n\r\n0\r\n\r\n", "\r\n", 0);
  check("0\r\nA: b\r\nC:\r\n\r\nX", "", 1);
}

TEST(HttpChunkDecoder, Refusals) {
  for (const char* body : {"\r\n",
                           "g\r\n",
                           "-1\r\n",
                           "+1\r\n",
                           " 1\r\n",
                           "0x1\r\n",
                           "1 \r\na\r\n",
                           "1 x\r\n",
                           "1\na",
                           "1\ra",
                           "1;\x01\r\n",
                           "1;\n",
                           "1\r\nab\r\n",
                           "1\r\na\n0\r\n",
                           "1\r\na\r0\r\n",
                           "00000000000000001\r\na\r\n",
                           "1;12345678901234567\r\n",
                           "1;1234567\r\na\r\n1;123456789\r\n",
                           "0\r\nA\r\n",
                           "0\r\n: b\r\n",
                           "0\r\n a: b\r\n",
                           "0\r\nA : b\r\n",
                           "0\r\nA: b\n",
                           "0\r\nA: \x7f\r\n",
                           "0\r\nA: 0123456789012345678901234567890\r\n",
                           "0\r\n\rX",
                           "0\r\nA: b\r\nB: 01234567890123456789012345\r\n\r\n"}) {
    check(body, std::nullopt, 0);
  }
}

TEST(HttpChunkDecoder, AnUnfinishedBodyIsNotDone) {
  const std::string body = "2;a\r\nab\r\n0\r\nA: b\r\n\r\n";
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    EXPECT_EQ(decode(body.substr(0, bytes), 64, {}).state, ChunkDecoder::State::kMore) << bytes;
  }
}

TEST(HttpChunkDecoder, AnnouncedBytes) {
  ChunkDecoder decoder({});
  std::string_view bytes = "10";
  std::string_view data;
  EXPECT_EQ(decoder.next(bytes, data), ChunkDecoder::State::kMore);
  EXPECT_EQ(decoder.announced_bytes(), 0U);  // more digits may follow
  bytes = "\r\n";
  EXPECT_EQ(decoder.next(bytes, data), ChunkDecoder::State::kMore);
  EXPECT_EQ(decoder.announced_bytes(), 16U);
  bytes = "abc";
  EXPECT_EQ(decoder.next(bytes, data), ChunkDecoder::State::kData);
  EXPECT_EQ(decoder.announced_bytes(), 13U);
}

}  // namespace
}  // namespace layard::http
