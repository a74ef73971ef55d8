#include "http/chunk_decoder.h"

#include <algorithm>
#include <string>

#include "http/message.h"

namespace layard::http {
namespace {

constexpr unsigned kSizeDigitsMax = 16;

constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_text(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}

}  // namespace

ChunkDecoder::State ChunkDecoder::refuse(std::string_view message) {
  refusal_ = Refusal{RefusalReason::kChunk, std::string(message)};
  return State::kRefused;
}

ChunkDecoder::State ChunkDecoder::expect(char c, char wanted, Place next) {
  if (c != wanted) return refuse("the chunked body has something else where a CRLF must be");
  place_ = next;
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::in_size(char c) {
  const int digit = hex_digit(c);
  if (digit >= 0) {
    if (++digits_ > kSizeDigitsMax) return refuse("a chunk's size has more than 16 hex digits");
    left_ = left_ * 16 + static_cast<unsigned>(digit);
    return State::kMore;
  }
  if (digits_ == 0) return refuse("a chunk's size does not begin with a hex digit");
  if (c == '\r') {
    place_ = Place::kSizeLf;
    return State::kMore;
  }
  place_ = Place::kExtensionGap;
  return in_extension(c);
}

ChunkDecoder::State ChunkDecoder::in_extension(char c) {
  if (place_ == Place::kExtensionGap) {
    if (c == ';') {
      place_ = Place::kExtension;
    } else if (c != ' ' && c != '\t') {
      return refuse("a chunk's size is followed by something that is no extension");
    }
  } else if (c == '\r') {
    place_ = Place::kSizeLf;
    return State::kMore;
  } else if (!is_text(c)) {
    return refuse("a chunk's extension holds a control byte");
  }
  if (++extension_bytes_ > limits_.extension_bytes_max) {
    return refuse("the chunks' extensions are over " + std::to_string(limits_.extension_bytes_max) +
                  " bytes");
  }
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::in_trailer(char c) {
  if (++trailer_bytes_ > limits_.trailer_bytes_max) {
    return refuse("the trailer is over " + std::to_string(limits_.trailer_bytes_max) + " bytes");
  }
  if (place_ == Place::kTrailerStart && c == '\r') {
    place_ = Place::kEndLf;
    return State::kMore;
  }
  if (place_ == Place::kTrailerValue) {
    if (c == '\r') {
      place_ = Place::kTrailerLf;
    } else if (!is_text(c)) {
      return refuse("a trailer field's value holds a control byte");
    }
    return State::kMore;
  }
  const bool named = place_ == Place::kTrailerName;
  if (named && c == ':') {
    place_ = Place::kTrailerValue;
    return State::kMore;
  }
  if (!is_token(std::string_view(&c, 1))) {
    return refuse("a trailer line is not `name: value` with a name that is a token");
  }
  place_ = Place::kTrailerName;
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::look_at(char c) {
  switch (place_) {
    case Place::kSize:
      return in_size(c);
    case Place::kExtensionGap:
    case Place::kExtension:
      return in_extension(c);
    case Place::kSizeLf:
      digits_ = 0;
      return expect(c, '\n', left_ > 0 ? Place::kData : Place::kTrailerStart);
    case Place::kDataCr:
      return expect(c, '\r', Place::kDataLf);
    case Place::kDataLf:
      return expect(c, '\n', Place::kSize);
    case Place::kTrailerStart:
    case Place::kTrailerName:
    case Place::kTrailerValue:
      return in_trailer(c);
    case Place::kTrailerLf:
      return expect(c, '\n', Place::kTrailerStart);
    case Place::kEndLf:
      if (c != '\n') return refuse("the chunked body does not end in CRLF");
      return State::kDone;
    case Place::kData:
      break;
  }
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::next(std::string_view& bytes, std::string_view& data) {
  while (!bytes.empty()) {
    if (place_ == Place::kData) {
      data =
          bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
      bytes.remove_prefix(data.size());
      left_ -= data.size();
      if (left_ == 0) place_ = Place::kDataCr;
      return State::kData;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    const State state = look_at(c);
    if (state != State::kMore) return state;
  }
  return State::kMore;
}

}  // namespace layard::http
