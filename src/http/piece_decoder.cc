#include "http/piece_decoder.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace layard::http {

PieceDecoder::PieceDecoder(ResponseBody framing, std::uint64_t content_length,
                           std::uint64_t bytes_max)
    : framing_(framing),
      left_(content_length),
      room_(bytes_max),
      bytes_max_(bytes_max),
      chunks_(ChunkLimits{}) {}

PieceDecoder::State PieceDecoder::refuse_size() {
  refusal_ = {RefusalReason::kBodySize,
              "the response's body is over " + std::to_string(bytes_max_) + " bytes"};
  return State::kRefused;
}

PieceDecoder::State PieceDecoder::take(std::uint64_t count, std::string_view& bytes,
                                       std::string_view& data) {
  if (bytes.empty()) return State::kMore;
  data = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes.size())));
  if (data.size() > room_) return refuse_size();
  bytes.remove_prefix(data.size());
  room_ -= data.size();
  return State::kData;
}

PieceDecoder::State PieceDecoder::next_chunk(std::string_view& bytes, std::string_view& data) {
  switch (chunks_.next(bytes, data)) {
    case ChunkDecoder::State::kMore:
      // A chunk that cannot fit is refused when it is announced.
      return chunks_.announced_bytes() > room_ ? refuse_size() : State::kMore;
    case ChunkDecoder::State::kDone:
      framing_ = ResponseBody::kNone;
      return State::kDone;
    case ChunkDecoder::State::kRefused:
      refusal_ = chunks_.refusal();
      return State::kRefused;
    case ChunkDecoder::State::kData:
      break;
  }
  if (data.size() > room_ || chunks_.announced_bytes() > room_ - data.size()) return refuse_size();
  room_ -= data.size();
  return State::kData;
}

PieceDecoder::State PieceDecoder::next(std::string_view& bytes, std::string_view& data) {
  switch (framing_) {
    case ResponseBody::kNone:
      return State::kDone;
    case ResponseBody::kChunked:
      return next_chunk(bytes, data);
    case ResponseBody::kUntilClose:
      return take(bytes.size(), bytes, data);
    case ResponseBody::kLength:
      break;
  }
  if (left_ > room_) return refuse_size();
  const State state = take(left_, bytes, data);
  if (state != State::kData) return state;
  left_ -= data.size();
  if (left_ == 0) framing_ = ResponseBody::kNone;
  return State::kData;
}

}  // namespace layard::http
