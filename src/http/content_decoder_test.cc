#include "http/content_decoder.h"

#include <gtest/gtest.h>

#include "support/compress.h"

namespace layard::http {
namespace {

using testing::gzip;
using testing::zstd;

struct Decoded {
  std::optional<Refusal> refusal;
  std::string out;
};

Decoded decode(ContentCoding coding, std::string_view in, std::size_t out_max, std::size_t piece) {
  const auto decoder = ContentDecoder::create(coding, out_max);
  Decoded result;
  while (!in.empty() && !result.refusal) {
    result.refusal = decoder->write(in.substr(0, piece), result.out);
    in.remove_prefix(std::min(piece, in.size()));
  }
  EXPECT_LE(result.out.size(), out_max);
  EXPECT_LE(decoder->memory_bytes(), std::size_t{10} << 20);
  if (!result.refusal) result.refusal = decoder->finish();
  return result;
}

void check(ContentCoding coding, const std::string& in, std::string_view expected) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, in.size() + 1}) {
    const auto result = decode(coding, in, expected.size(), piece);
    ASSERT_FALSE(result.refusal.has_value()) << result.refusal->message;
    EXPECT_EQ(result.out, expected);
  }
}

void check_refused(ContentCoding coding, const std::string& in, std::size_t out_max,
                   RefusalReason reason) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, in.size() + 1}) {
    const auto result = decode(coding, in, out_max, piece);
    ASSERT_TRUE(result.refusal.has_value());
    EXPECT_EQ(result.refusal->reason, reason) << result.refusal->message;
  }
}

std::string varied_text(std::size_t bytes) {
  std::string text;
  for (unsigned i = 0; text.size() < bytes; i = i * 1664525U + 1013904223U) {
    text += std::to_string(i % 1000U);
    ++i;
  }
  text.resize(bytes);
  return text;
}

TEST(HttpContentDecoder, Identity) {
  check(ContentCoding::kIdentity, "abc", "abc");
  check_refused(ContentCoding::kIdentity, "abcd", 3, RefusalReason::kBodySize);
}

TEST(HttpContentDecoder, RoundTrips) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{32 * 1024},
                                  std::size_t{32 * 1024 + 1}, std::size_t{300'000}}) {
    const std::string text = varied_text(bytes);
    check(ContentCoding::kGzip, gzip(text), text);
    check(ContentCoding::kZstd, zstd(text), text);
  }
}

TEST(HttpContentDecoder, SeveralFramesAreOneBody) {
  check(ContentCoding::kGzip, gzip("ab") + gzip("") + gzip("c"), "abc");
  check(ContentCoding::kZstd, zstd("ab") + zstd("") + zstd("c"), "abc");
}

TEST(HttpContentDecoder, NoByteIsAnEmptyBody) {
  check(ContentCoding::kGzip, "", "");
  check(ContentCoding::kZstd, "", "");
}

TEST(HttpContentDecoder, OneByteOverTheBoundIsRefused) {
  const std::string text = varied_text(100'001);
  check_refused(ContentCoding::kGzip, gzip(text), 100'000, RefusalReason::kBodySize);
  check_refused(ContentCoding::kZstd, zstd(text), 100'000, RefusalReason::kBodySize);
}

TEST(HttpContentDecoder, BombsAreRefusedAtTheBound) {
  const std::string zeros(16 << 20, '\0');
  check_refused(ContentCoding::kGzip, gzip(zeros), 1 << 20, RefusalReason::kBodySize);
  check_refused(ContentCoding::kZstd, zstd(zeros), 1 << 20, RefusalReason::kBodySize);
}

TEST(HttpContentDecoder, BrokenDataIsRefused) {
  const std::string text = varied_text(5000);
  for (const auto coding : {ContentCoding::kGzip, ContentCoding::kZstd}) {
    const std::string good = coding == ContentCoding::kGzip ? gzip(text) : zstd(text);
    std::string changed = good;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 0x55);
    check_refused(coding, changed, 1 << 20, RefusalReason::kCompressedBody);
    check_refused(coding, good + "garbage", 1 << 20, RefusalReason::kCompressedBody);
    check_refused(coding, "{\"state\": 1}", 1 << 20, RefusalReason::kCompressedBody);
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{9}, good.size() / 2, good.size() - 1}) {
      check_refused(coding, good.substr(0, bytes), 1 << 20, RefusalReason::kCompressedBody);
    }
  }
}

// The library also reads the formats that came before; a body in one of them is refused.
TEST(HttpContentDecoder, OldZstdFormatsAreRefused) {
  for (const char* magic : {"\x27\xb5\x2f\xfd", "\x26\xb5\x2f\xfd", "\x25\xb5\x2f\xfd",
                            "\x24\xb5\x2f\xfd", "\x1e\xb5\x2f\xfd"}) {
    const std::string old = magic + std::string("\x04\x21\xf3\x8d");
    check_refused(ContentCoding::kZstd, old, 1 << 20, RefusalReason::kCompressedBody);
    check_refused(ContentCoding::kZstd, zstd("ab") + old, 1 << 20, RefusalReason::kCompressedBody);
  }
}

TEST(HttpContentDecoder, SkippableZstdFramesAreSkipped) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  check(ContentCoding::kZstd, zstd("a") + skippable + zstd("b"), "ab");
}

TEST(HttpContentDecoder, AZstdWindowOverTheBoundIsRefused) {
  const std::string text(100, 'a');
  check_refused(ContentCoding::kZstd, testing::zstd_with_window(text, 27), 1 << 20,
                RefusalReason::kCompressedBody);
  check(ContentCoding::kZstd, testing::zstd_with_window(text, 23), text);
}

}  // namespace
}  // namespace layard::http
