#include "gateway/request_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace layard::gateway {
namespace {

using http::BodyPiece;

constexpr std::size_t kCopied = RequestBody::kCopiedBytesMax;
constexpr std::size_t kPiece = RequestBody::kPieceBytes;

http::Detached take(http::BodySource source, std::optional<BodyPiece>& out) {
  out = co_await source();
}

// What a source yields: it never waits.
std::vector<std::string> pieces_of(const http::BodySource& source) {
  std::vector<std::string> out;
  while (true) {
    std::optional<BodyPiece> piece;
    take(source, piece);
    EXPECT_TRUE(piece.has_value());
    if (!piece.has_value() || piece->state != BodyPiece::State::kData) {
      EXPECT_TRUE(piece.has_value() && piece->state == BodyPiece::State::kEnd);
      return out;
    }
    out.push_back(piece->bytes);
  }
}

std::shared_ptr<const RequestBody> body_of(const std::string& bytes,
                                           const std::vector<ModelRange>& ranges) {
  return std::make_shared<const RequestBody>(bytes, ranges, nullptr);
}

// A body of `size` bytes with `"m0"` at each place.
std::pair<std::string, std::vector<ModelRange>> example(std::size_t size,
                                                        const std::vector<std::size_t>& places) {
  std::string bytes(size, '.');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i % 23);
  std::vector<ModelRange> ranges;
  for (const std::size_t place : places) {
    bytes.replace(place, 4, "\"m0\"");
    ranges.push_back({place, place + 4});
  }
  return {bytes, ranges};
}

// Puts the body, and gives it back as a device gets it.
std::string sent(const std::string& bytes, const std::vector<ModelRange>& ranges,
                 const std::string& model, bool is_large) {
  http::ClientRequest request;
  RequestBody::put(body_of(bytes, ranges), model, request);
  EXPECT_EQ(request.source != nullptr, is_large);
  if (request.source == nullptr) {
    EXPECT_FALSE(request.source_bytes.has_value());
    return request.body;
  }
  EXPECT_TRUE(request.body.empty());
  std::string out;
  for (const std::string& piece : pieces_of(request.source)) {
    EXPECT_LE(piece.size(), kPiece);
    EXPECT_FALSE(piece.empty());
    out += piece;
  }
  EXPECT_EQ(request.source_bytes, out.size());
  return out;
}

TEST(RequestBody, SmallAndLargeAreWhatWithModelSays) {
  const std::vector<std::size_t> sizes = {
      0, 4, 100, kCopied - 1, kCopied, kCopied + 1, 5 * kPiece, 5 * kPiece + 1, 3 * kCopied + 77};
  for (const std::size_t size : sizes) {
    std::vector<std::vector<std::size_t>> places = {{}};
    if (size >= 4) {
      places.push_back({0});
      places.push_back({size - 4});
    }
    if (size >= 100) {
      places.push_back({7, 50});
      places.push_back({0, 4, 8, size - 4});  // one right after another
    }
    if (size > kPiece + 4) places.push_back({kPiece - 2, kPiece + 2});
    for (const auto& where : places) {
      const auto [bytes, ranges] = example(size, where);
      for (const std::string& model :
           {std::string(), std::string("m"), std::string("chat \"27b\"\n\\ \xC3\xA9"),
            std::string(kPiece + 9, 'x')}) {
        const std::string expected = model.empty() ? bytes : with_model(bytes, ranges, model);
        EXPECT_TRUE(sent(bytes, ranges, model, size > kCopied) == expected)
            << size << " bytes, " << where.size() << " ranges, model of " << model.size();
      }
    }
  }
}

TEST(RequestBody, ReplacedByHand) {
  EXPECT_EQ(sent(R"({"model":"m0","n":1})", {{9, 13}}, "a\"b", false), R"({"model":"a\"b","n":1})");
  const std::string tail(kCopied, ' ');
  EXPECT_EQ(sent(R"({"model":"m0","n":1})" + tail, {{9, 13}}, "a\"b", true),
            R"({"model":"a\"b","n":1})" + tail);
  EXPECT_EQ(sent(R"({"model":"m0","n":1})" + tail, {{9, 13}}, "", true),
            R"({"model":"m0","n":1})" + tail);
}

TEST(RequestBody, PiecesAreOfOneSize) {
  const auto [bytes, ranges] = example(kCopied + kPiece + 1, {});
  http::ClientRequest request;
  RequestBody::put(body_of(bytes, ranges), "m", request);
  const auto pieces = pieces_of(request.source);
  ASSERT_EQ(pieces.size(), 6U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(pieces[i].size(), kPiece);
  EXPECT_EQ(pieces[5].size(), 1U);
}

// For another device the same body is put again, from its beginning.
TEST(RequestBody, PutMoreThanOnce) {
  const auto [bytes, ranges] = example(kCopied + 9, {100});
  const auto body = body_of(bytes, ranges);
  http::ClientRequest first;
  RequestBody::put(body, "one", first);
  std::optional<BodyPiece> begun;
  take(first.source, begun);
  for (const char* model : {"two", "", "three"}) {
    http::ClientRequest again;
    RequestBody::put(body, model, again);
    std::string out;
    for (const std::string& piece : pieces_of(again.source)) out += piece;
    EXPECT_TRUE(out == (*model == '\0' ? bytes : with_model(bytes, ranges, model))) << model;
  }
  EXPECT_EQ(body->bytes(), bytes);
}

// A request that is being sent keeps the body, and the memory that it is counted by.
TEST(RequestBody, ARequestKeepsALargeBody) {
  for (const bool is_large : {false, true}) {
    const auto [bytes, ranges] = example(is_large ? kCopied + 1 : 10, {});
    auto memory = std::make_shared<int>(0);
    const std::weak_ptr<int> counted = memory;
    auto request = std::make_unique<http::ClientRequest>();
    {
      const auto body = std::make_shared<const RequestBody>(bytes, ranges, std::move(memory));
      RequestBody::put(body, "m", *request);
      EXPECT_FALSE(counted.expired());
    }
    EXPECT_EQ(counted.expired(), !is_large);
    if (is_large) {
      std::string out;
      for (const std::string& piece : pieces_of(request->source)) out += piece;
      EXPECT_TRUE(out == bytes);
    }
    request.reset();
    EXPECT_TRUE(counted.expired());
  }
}

}  // namespace
}  // namespace layard::gateway
