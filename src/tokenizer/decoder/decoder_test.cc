#include "tokenizer/decoder/decoder.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/tokenizer_parts.h"

namespace layard::tokenizer {
namespace {

void check(const std::string& json, const std::vector<std::string>& tokens,
           std::string_view expected) {
  const auto decoder = Decoder::from_json(testing::parse(json));
  ASSERT_TRUE(decoder.ok()) << decoder.error().message;
  EXPECT_EQ(decoder->decode(tokens), expected) << json;
}

TEST(Decoder, AppliesEachStep) {
  check("null", {"a", "b"}, "a b");
  check(R"({"type":"ByteLevel"})", {"\u0120a", "\u00c3", "\u00a9", "<s> x"}, " a\u00e9<s> x");
  check(R"({"type":"ByteLevel"})", {"a\u00c3", "b"}, "a\ufffdb");
  check(R"({"type":"WordPiece","prefix":"##","cleanup":true})", {"do", "##n", "'", "t", "!"},
        "don ' t!");
  check(R"({"type":"WordPiece","prefix":"##","cleanup":false})", {"a", "##b", "!"}, "ab !");
  check(R"({"type":"Metaspace","replacement":"_"})", {"_a", "_b", "c_"}, "a bc ");
  check(R"({"type":"Metaspace","replacement":"_","prepend_scheme":"never"})", {"_a", "_b"}, " a b");
  check(R"({"type":"Replace","pattern":{"String":"_"},"content":" "})", {"_a", "b_"}, " ab ");
  check(R"({"type":"ByteFallback"})", {"a", "<0xC3>", "<0xA9>", "b"}, "a\u00e9b");
  check(R"({"type":"ByteFallback"})", {"<0xC3>", "<0xC3>", "b", "<0xZZ>"}, "\ufffd\ufffdb<0xZZ>");
  check(R"({"type":"Fuse"})", {"a", "b"}, "ab");
  check(R"({"type":"Strip","content":" ","start":1,"stop":2})", {"  a   ", " "}, " a ");
  check(R"({"type":"BPEDecoder","suffix":"</w>"})", {"a", "b</w>", "c</w>"}, "ab c");
  check(R"({"type":"Fuse"})", {}, "");
}

TEST(Decoder, RunsSequencesInOrder) {
  check(R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"_"},)"
        R"("content":" "},{"type":"ByteFallback"},{"type":"Fuse"},)"
        R"({"type":"Strip","content":" ","start":1,"stop":0}]})",
        {"_a", "<0x0A>", "_b"}, "a\n b");
}

TEST(Decoder, ReadsIllFormedBytesAsRustDoes) {
  const auto lossy = [](std::string_view bytes) {
    std::string out;
    append_lossy(bytes, out);
    return out;
  };
  EXPECT_EQ(lossy("a\xC3"), "a\ufffd");
  EXPECT_EQ(lossy("\xE2\x82z"), "\ufffdz");
  EXPECT_EQ(lossy("\xF0\x9F\x98"), "\ufffd");
  EXPECT_EQ(lossy("\xE0\x80\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(lossy("\xED\xA0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(lossy("\xFF\xC0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(lossy("\u20ac"), "\u20ac");
}

TEST(Decoder, RefusesDamagedSteps) {
  const auto refused = [](const std::string& json, ErrorCode code, std::string_view part) {
    testing::check_refused(testing::to_json({.decoder = json}), code, part);
  };
  refused(R"({"type":"WordPiece","prefix":"##"})", ErrorCode::kArtifactIntegrity,
          "decoder.cleanup");
  refused(R"({"type":"Strip","content":"ab","start":1,"stop":0})", ErrorCode::kArtifactIntegrity,
          "decoder.content");
  refused(R"({"type":"Strip","content":"a","start":-1,"stop":0})", ErrorCode::kArtifactIntegrity,
          "decoder.start");
  refused(R"({"type":"Sequence","decoders":[{"type":"CTC"}]})", ErrorCode::kUnsupportedModel,
          "decoder CTC (decoder.decoders[0])");
}

}  // namespace
}  // namespace layard::tokenizer
