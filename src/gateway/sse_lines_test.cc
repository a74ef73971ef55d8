#include "gateway/sse_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::gateway {
namespace {

// The tokens as letters, one a byte; `pieces` bytes at a time.
std::string letters(std::string_view text, std::size_t piece_bytes) {
  SseLines lines;
  std::string out;
  for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
    std::string_view piece = text.substr(begin, piece_bytes);
    while (!piece.empty()) {
      const SseLines::Token token = lines.next(piece);
      EXPECT_GT(token.bytes, 0U);
      out += std::string(token.bytes, "DNE.lbh"[static_cast<std::size_t>(token.kind)]);
      piece.remove_prefix(token.bytes);
    }
  }
  return out;
}

TEST(SseLines, EveryByteHasOneKindHoweverItIsCut) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"data: x\n\n", ".....DDlb"},
      {"data:x\r\n\r\n", ".....Dlhbh"},
      {"data:x\r\rdata:y", ".....Dlb.....D"},
      {"event: e\ndata:y\n", "......NNl.....Dl"},
      {"error: x\n", "......EEl"},
      {": comment\n\n", ".........lb"},
      {"data\n\n", "....lb"},
      {"data :x\n", ".......l"},
      {" data:x\n", ".......l"},
      {"database:x\n", "..........l"},
      {"datadatadata:x\n", "..............l"},
      {"data:a:b\n", ".....DDDl"},
      {"id: 7\nretry: 1\n", ".....l........l"},
      {"\xEF\xBB\xBF"
       "data:x\n\xEF\xBB\xBF"
       "data:x\n",
       "........Dl.........l"},
      {"\n\n\r\n", "bbbh"},
      {"\r\n\n", "bhb"},
      {":\n", ".l"},
      {":\n\n", ".lb"},
      {"data:\n\n", ".....lb"},
      {"", ""},
  };
  for (const auto& [text, expected] : rows) {
    for (std::size_t bytes = 1; bytes <= text.size() + 1; ++bytes) {
      EXPECT_EQ(letters(text, bytes), expected) << text << " in pieces of " << bytes;
    }
  }
}

TEST(SseLines, KnowsWhereALineBegins) {
  SseLines lines;
  EXPECT_TRUE(lines.at_line_start());
  lines.next("d");
  EXPECT_FALSE(lines.at_line_start());
  lines.next("\n");
  EXPECT_TRUE(lines.at_line_start());
  lines.next(":");
  EXPECT_FALSE(lines.at_line_start());
}

}  // namespace
}  // namespace layard::gateway
