#include "http/body_decoder.h"

#include <gtest/gtest.h>

#include "support/compress.h"

namespace layard::http {
namespace {

struct Decoded {
  BodyDecoder::State state = BodyDecoder::State::kMore;
  RefusalReason reason{};
  std::string body;
  std::uint64_t wire_bytes = 0;
  std::size_t left = 0;
};

Decoded decode(const BodyPlan& plan, std::string_view bytes, std::size_t piece_bytes,
               std::size_t budget_max) {
  const auto budget = std::make_shared<ByteBudget>(budget_max);
  Decoded result;
  {
    BudgetShare share(budget);
    BodyDecoder decoder(plan, share);
    do {
      std::string_view piece = bytes.substr(0, piece_bytes);
      const auto before = piece.size();
      result.state = decoder.feed(piece);
      bytes.remove_prefix(before - piece.size());
    } while (result.state == BodyDecoder::State::kMore && !bytes.empty());
    EXPECT_LE(share.bytes(), budget_max);
    result.reason = decoder.refusal().reason;
    result.wire_bytes = decoder.wire_bytes();
    if (result.state == BodyDecoder::State::kDone) result.body = decoder.take_body();
  }
  EXPECT_EQ(budget->used(), 0U);
  result.left = bytes.size();
  return result;
}

void check(const BodyPlan& plan, const std::string& bytes, std::string_view body,
           std::size_t left) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size() + 1}) {
    const auto result = decode(plan, bytes, piece, 1 << 20);
    EXPECT_EQ(result.state, BodyDecoder::State::kDone) << bytes;
    EXPECT_EQ(result.body, body);
    EXPECT_EQ(result.left, left);
  }
}

void check_refused(const BodyPlan& plan, const std::string& bytes, std::size_t budget_max,
                   RefusalReason reason) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size() + 1}) {
    const auto result = decode(plan, bytes, piece, budget_max);
    EXPECT_EQ(result.state, BodyDecoder::State::kRefused) << bytes.substr(0, 80);
    EXPECT_EQ(result.reason, reason) << bytes.substr(0, 80);
  }
}

TEST(HttpBodyDecoder, Framings) {
  check({.bytes_max = 10}, "GET /", "", 5);
  check({.framing = BodyFraming::kLength, .content_length = 0, .bytes_max = 10}, "GET /", "", 5);
  check({.framing = BodyFraming::kLength, .content_length = 3, .bytes_max = 3}, "abcGET /", "abc",
        5);
  check({.framing = BodyFraming::kChunked, .bytes_max = 3}, "1\r\na\r\n2\r\nbc\r\n0\r\n\r\nGET /",
        "abc", 5);
}

TEST(HttpBodyDecoder, Codings) {
  const std::string packed = testing::zstd("hello");
  const auto result = decode({BodyFraming::kLength, packed.size(), ContentCoding::kZstd, 100},
                             packed + "GET", 64, 1 << 20);
  EXPECT_EQ(result.body, "hello");
  EXPECT_EQ(result.wire_bytes, packed.size());
  EXPECT_EQ(result.left, 3U);
  check(
      {.framing = BodyFraming::kChunked, .coding = ContentCoding::kGzip, .bytes_max = 100},
      [] {
        const std::string gz = testing::gzip("hello");
        return std::string(1, "0123456789abcdefghijklmnop"[10]) + "\r\n" + gz.substr(0, 10) +
               "\r\n" + "f\r\n" + gz.substr(10, 15) + "\r\n0\r\n\r\n";
      }(),
      "hello", 0);
}

TEST(HttpBodyDecoder, SizesOverTheBound) {
  check_refused({.framing = BodyFraming::kLength, .content_length = 4, .bytes_max = 3}, "a",
                1 << 20, RefusalReason::kBodySize);
  // Refused as soon as it is announced: the bytes never come.
  for (const char* announced :
       {"4\r\n", "3\r\nabc\r\n1\r\n", "ffffffffffffffff\r\n", "1\r\na\r\nffffffffffffffff\r\n"}) {
    check_refused({.framing = BodyFraming::kChunked, .bytes_max = 3}, announced, 1 << 20,
                  RefusalReason::kBodySize);
  }
  const std::string bomb = testing::zstd(std::string(1 << 20, 'a'));
  check_refused({BodyFraming::kLength, bomb.size(), ContentCoding::kZstd, 1 << 19}, bomb, 1 << 24,
                RefusalReason::kBodySize);
}

TEST(HttpBodyDecoder, BrokenBodies) {
  check_refused({.framing = BodyFraming::kChunked, .bytes_max = 10}, "1\r\nab", 1 << 20,
                RefusalReason::kChunk);
  check_refused({BodyFraming::kLength, 4, ContentCoding::kGzip, 10}, "abcd", 1 << 20,
                RefusalReason::kCompressedBody);
  const std::string cut = testing::gzip("hello").substr(0, 15);
  check_refused({BodyFraming::kLength, cut.size(), ContentCoding::kGzip, 100}, cut, 1 << 20,
                RefusalReason::kCompressedBody);
}

TEST(HttpBodyDecoder, MemoryOfAllBodiesIsBounded) {
  const std::string body(20'000, 'a');
  check_refused({.framing = BodyFraming::kLength, .content_length = 20'000, .bytes_max = 20'000},
                body, 16'384, RefusalReason::kBodyMemory);
}

TEST(HttpBodyDecoder, AnnouncedSize) {
  EXPECT_FALSE(check_announced_size({BodyFraming::kLength, 10, ContentCoding::kIdentity, 10}));
  const auto refusal =
      check_announced_size({BodyFraming::kLength, 11, ContentCoding::kIdentity, 10});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->reason, RefusalReason::kBodySize);
  EXPECT_FALSE(check_announced_size({BodyFraming::kChunked, 0, ContentCoding::kIdentity, 0}));
}

}  // namespace
}  // namespace layard::http
