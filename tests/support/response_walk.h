/// Reads one response out of a run of bytes as the client does, without a connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "http/piece_decoder.h"
#include "http/request_checks.h"
#include "http/response_checks.h"

namespace layard::testing {

struct ResponseWalk {
  std::optional<http::ReceivedHead> head;  // of the response proper
  std::string body;
  std::size_t pieces = 0;
  bool whole = false;                    // the body's end was seen in the bytes
  std::optional<http::Refusal> refusal;  // where it broke a rule
};

struct ResponseWalkOptions {
  http::HeadLimits head = {};
  std::uint64_t body_bytes_max = 1 << 20;
  bool to_head = false;
  std::size_t piece_bytes = static_cast<std::size_t>(-1);  // how much arrives at a time
};

inline void walk_response_body(std::string_view rest, const ResponseWalkOptions& options,
                               ResponseWalk& walk) {
  using State = http::PieceDecoder::State;
  http::PieceDecoder decoder(walk.head->body, walk.head->content_length, options.body_bytes_max);
  while (true) {
    std::string_view piece = rest.substr(0, options.piece_bytes);
    const auto arrived = piece.size();
    std::string_view data;
    auto state = State::kMore;
    while ((state = decoder.next(piece, data)) == State::kData) {
      walk.body += data;
      ++walk.pieces;
    }
    rest.remove_prefix(arrived - piece.size());
    if (state == State::kRefused) walk.refusal = decoder.refusal();
    walk.whole = state == State::kDone;
    if (state != State::kMore || rest.empty()) return;
  }
}

inline ResponseWalk walk_response(std::string_view bytes, const ResponseWalkOptions& options) {
  using State = http::HeadScanner::State;
  ResponseWalk walk;
  while (true) {
    http::HeadScanner scanner(options.head, http::HeadKind::kResponse);
    auto state = State::kMore;
    std::size_t arrived = 0;
    while (state == State::kMore && arrived < bytes.size()) {
      arrived += std::min(options.piece_bytes, bytes.size() - arrived);
      state = scanner.scan(bytes.substr(0, arrived));
    }
    if (state == State::kRefused) walk.refusal = scanner.refusal();
    if (state != State::kDone) return walk;
    auto head =
        http::check_response_head(bytes.substr(0, scanner.end()), options.head, options.to_head);
    bytes.remove_prefix(scanner.end());
    if (auto* refusal = std::get_if<http::Refusal>(&head)) {
      walk.refusal = std::move(*refusal);
      return walk;
    }
    if (std::get<http::ReceivedHead>(head).is_interim()) continue;
    walk.head = std::get<http::ReceivedHead>(std::move(head));
    walk_response_body(bytes, options, walk);
    return walk;
  }
}

}  // namespace layard::testing
