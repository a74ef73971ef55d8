#include "gateway/output_ring.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace layard::gateway {
namespace {

using Pieces = std::vector<std::string>;

struct Row {
  Pieces written;
  std::string text;  // of a ring of 8 bytes
};

TEST(OutputRing, KeepsTheEnd) {
  const Row rows[] = {
      {{}, ""},
      {{"abc"}, "abc"},
      {{"abc", "\ndef\n"}, "abc\ndef\n"},
      {{"abc\n", "def\n", "g"}, "def\ng"},             // a cut line is left out
      {{"abc\ndefg", "\nhi"}, "defg\nhi"},             // 8 bytes left, exactly from a line's start
      {{"0123456789"}, "23456789"},                    // one line: its end
      {{"0123", "4567", "89"}, "23456789"},            // the same in pieces
      {{"0123456789", "\n"}, "3456789\n"},             // still all of one line
      {{"0123456789\nab"}, "ab"},                      // its line's rest says nothing
      {{"12345678"}, "12345678"},                      // exactly full
      {{"\n\n\n\n\n\n\n\n\n\n"}, "\n\n\n\n\n\n\n\n"},  // empty lines are whole
      {{"abc\n", "12345678"}, "12345678"},
      {{std::string("a\0b\xff", 4)}, std::string("a\0b\xff", 4)},
  };
  for (const Row& row : rows) {
    OutputRing ring(8);
    std::uint64_t total = 0;
    for (const std::string& piece : row.written) {
      ring.append(piece);
      total += piece.size();
    }
    EXPECT_EQ(ring.text(), row.text);
    EXPECT_EQ(ring.bytes_total(), total);
  }
}

TEST(OutputRing, LastLines) {
  struct LineRow {
    std::string written;
    std::size_t count;
    std::vector<std::string> lines;
  };
  const LineRow rows[] = {
      {"", 3, {}},
      {"a", 3, {"a"}},
      {"a\nb\nc\n", 2, {"b", "c"}},
      {"a\nb\nc", 2, {"b", "c"}},
      {"a\n\nc\n", 3, {"a", "", "c"}},
      {"a\nb\n", 0, {}},
      {"a\nb\n", 9, {"a", "b"}},
  };
  for (const LineRow& row : rows) {
    OutputRing ring(100);
    ring.append(row.written);
    EXPECT_EQ(ring.last_lines(row.count), row.lines) << row.written;
  }
}

// However the same bytes are cut into pieces, the same is kept, and no more than the bound.
TEST(OutputRing, PiecesDoNotMatter) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string all;
    for (std::size_t i = random() % 60; i > 0; --i) all += "ab\n"[random() % 3];
    const std::size_t bytes_max = 1 + random() % 20;
    OutputRing whole(bytes_max);
    whole.append(all);
    OutputRing pieces(bytes_max);
    for (std::string_view left = all; !left.empty();) {
      const std::size_t count = 1 + random() % left.size();
      pieces.append(left.substr(0, count));
      left.remove_prefix(count);
    }
    ASSERT_EQ(pieces.text(), whole.text()) << all << " in " << bytes_max;
    ASSERT_LE(whole.text().size(), bytes_max);
    ASSERT_TRUE(all.ends_with(whole.text()));
  }
}

TEST(OutputRing, ManyThreads) {
  OutputRing ring(1000);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&ring] {
      for (int n = 0; n < 500; ++n) {
        ring.append("a line of output\n");
        EXPECT_LE(ring.text().size(), 1000U);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(ring.bytes_total(), 4U * 500U * 17U);
  EXPECT_EQ(ring.last_lines(1), std::vector<std::string>{"a line of output"});
}

}  // namespace
}  // namespace layard::gateway
