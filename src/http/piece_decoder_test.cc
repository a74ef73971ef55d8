#include "http/piece_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace layard::http {
namespace {

using State = PieceDecoder::State;

struct Walk {
  std::vector<std::string> pieces;
  State last = State::kMore;
  std::string rest;

  std::string all() const {
    std::string text;
    for (const auto& piece : pieces) text += piece;
    return text;
  }
};

Walk walk(PieceDecoder& decoder, std::string_view bytes, std::size_t piece_bytes = 1 << 20) {
  Walk result;
  std::size_t at = 0;
  while (result.last == State::kMore && at < bytes.size()) {
    std::string_view piece = bytes.substr(at, piece_bytes);
    at += piece.size();
    std::string_view data;
    while ((result.last = decoder.next(piece, data)) == State::kData) {
      EXPECT_FALSE(data.empty());
      result.pieces.emplace_back(data);
    }
    at -= piece.size();
  }
  result.rest = bytes.substr(at);
  return result;
}

TEST(HttpPieceDecoder, LengthsEndWhereTheySay) {
  PieceDecoder decoder(ResponseBody::kLength, 5, 100);
  EXPECT_FALSE(decoder.whole_at_end());
  const auto result = walk(decoder, "helloHTTP", 2);
  EXPECT_EQ(result.pieces, (std::vector<std::string>{"he", "ll", "o"}));
  EXPECT_EQ(result.last, State::kDone);
  EXPECT_EQ(result.rest, "HTTP");
  EXPECT_TRUE(decoder.whole_at_end());
}

TEST(HttpPieceDecoder, ChunksAtEveryCut) {
  const std::string bytes = "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nT: v\r\n\r\nHTTP";
  for (std::size_t cut = 1; cut <= bytes.size(); ++cut) {
    PieceDecoder decoder(ResponseBody::kChunked, 0, 100);
    const auto result = walk(decoder, bytes, cut);
    EXPECT_EQ(result.all(), "abcd") << cut;
    EXPECT_EQ(result.last, State::kDone) << cut;
    EXPECT_EQ(result.rest, "HTTP") << cut;
  }
}

TEST(HttpPieceDecoder, ChunksAreOpenUntilTheLastLine) {
  const std::string bytes = "1\r\na\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    PieceDecoder decoder(ResponseBody::kChunked, 0, 100);
    EXPECT_EQ(walk(decoder, bytes.substr(0, size)).last, State::kMore) << size;
    EXPECT_FALSE(decoder.whole_at_end()) << size;
  }
}

TEST(HttpPieceDecoder, BadChunksAreRefused) {
  for (const char* bytes :
       {"x\r\n", "1\na", "1\r\nab", "-1\r\n", "1 1\r\n", "11112222333344445\r\n"}) {
    PieceDecoder decoder(ResponseBody::kChunked, 0, ~std::uint64_t{0});
    EXPECT_EQ(walk(decoder, bytes).last, State::kRefused) << bytes;
    EXPECT_EQ(decoder.refusal().reason, RefusalReason::kChunk) << bytes;
  }
}

TEST(HttpPieceDecoder, BoundsHoldInEveryFraming) {
  PieceDecoder length(ResponseBody::kLength, 6, 5);
  EXPECT_EQ(walk(length, "a").last, State::kRefused);
  EXPECT_EQ(length.refusal().reason, RefusalReason::kBodySize);
  PieceDecoder open(ResponseBody::kUntilClose, 0, 5);
  EXPECT_EQ(walk(open, "abcdef", 5).last, State::kRefused);
  PieceDecoder announced(ResponseBody::kChunked, 0, 5);
  EXPECT_EQ(walk(announced, "6\r\n").last, State::kRefused);
  PieceDecoder second(ResponseBody::kChunked, 0, 5);
  EXPECT_EQ(walk(second, "3\r\nabc\r\n3\r\nd").last, State::kRefused);
  PieceDecoder fits(ResponseBody::kChunked, 0, 5);
  EXPECT_EQ(walk(fits, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").last, State::kDone);
}

TEST(HttpPieceDecoder, WithoutAFrameEverythingIsBody) {
  PieceDecoder decoder(ResponseBody::kUntilClose, 0, 100);
  EXPECT_TRUE(decoder.whole_at_end());
  EXPECT_EQ(walk(decoder, "ab\r\nc", 2).all(), "ab\r\nc");
  PieceDecoder none(ResponseBody::kNone, 0, 0);
  std::string_view bytes = "x";
  std::string_view data;
  EXPECT_EQ(none.next(bytes, data), State::kDone);
  EXPECT_EQ(bytes, "x");
}

}  // namespace
}  // namespace layard::http
