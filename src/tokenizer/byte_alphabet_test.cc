#include "tokenizer/byte_alphabet.h"

#include <gtest/gtest.h>

namespace layard::tokenizer {
namespace {

TEST(ByteAlphabet, SpellsBytes) {
  EXPECT_EQ(byte_spelling('A'), "A");
  EXPECT_EQ(byte_spelling(' '), "\u0120");
  EXPECT_EQ(byte_spelling('\n'), "\u010A");
  EXPECT_EQ(byte_spelling(0), "\u0100");
  EXPECT_EQ(byte_spelling(0x7F), "\u0121");
  EXPECT_EQ(byte_spelling(0xAD), "\u0143");
  EXPECT_EQ(byte_spelling(0xFF), "\u00FF");
}

TEST(ByteAlphabet, GoesBothWays) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  std::string spelled;
  append_byte_spelling(bytes, spelled);
  std::string back = "x";
  EXPECT_TRUE(append_spelled_bytes(spelled, back));
  EXPECT_EQ(back, "x" + bytes);
}

TEST(ByteAlphabet, KnowsWhatSpellsNothing) {
  for (const char* text : {"a b", "\n", "\u0144", "\u2581", "\U0001F600"}) {
    std::string out = "kept";
    EXPECT_FALSE(append_spelled_bytes(text, out)) << text;
    EXPECT_EQ(out, "kept");
  }
}

}  // namespace
}  // namespace layard::tokenizer
