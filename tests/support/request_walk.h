/// Reads the requests in a run of bytes as a connection does, without one.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/body_decoder.h"
#include "http/request_checks.h"

namespace layard::testing {

struct RequestWalk {
  std::vector<http::Request> requests;
  std::optional<http::Refusal> refusal;  // after the requests
  std::size_t bytes_left = 0;            // not interpreted any more, or of an unfinished request
};

struct WalkOptions {
  http::HeadLimits head = {};
  std::size_t body_bytes_max = 1 << 20;
  std::size_t budget_bytes_max = std::size_t{1} << 30;
  std::size_t piece_bytes = static_cast<std::size_t>(-1);  // how much arrives at a time
};

/// One request's body out of `rest`; false when the walk ends here.
inline bool walk_body(http::RequestHead head, const WalkOptions& options,
                      const std::shared_ptr<http::ByteBudget>& budget, std::string_view& rest,
                      RequestWalk& walk) {
  const auto coding = http::content_coding(head.request.fields);
  if (!coding) {
    walk.refusal = {http::RefusalReason::kContentEncoding, "coding"};
    return false;
  }
  http::BudgetShare share(budget);
  http::BodyDecoder decoder({head.framing, head.content_length, *coding, options.body_bytes_max},
                            share);
  auto state = http::BodyDecoder::State::kMore;
  do {
    std::string_view piece = rest.substr(0, std::min(options.piece_bytes, rest.size()));
    const auto before = piece.size();
    state = decoder.feed(piece);
    rest.remove_prefix(before - piece.size());
  } while (state == http::BodyDecoder::State::kMore && !rest.empty());
  if (state == http::BodyDecoder::State::kRefused) walk.refusal = decoder.refusal();
  if (state != http::BodyDecoder::State::kDone) return false;
  head.request.body_wire_bytes = decoder.wire_bytes();
  head.request.body = decoder.take_body();
  walk.requests.push_back(std::move(head.request));
  return true;
}

inline RequestWalk walk_requests(std::string_view bytes, const WalkOptions& options) {
  RequestWalk walk;
  const auto budget = std::make_shared<http::ByteBudget>(options.budget_bytes_max);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    http::HeadScanner scanner(options.head);
    auto state = http::HeadScanner::State::kMore;
    for (std::size_t seen = 0; state == http::HeadScanner::State::kMore && seen < rest.size();) {
      seen += std::min(options.piece_bytes, rest.size() - seen);
      state = scanner.scan(rest.substr(0, seen));
    }
    if (state == http::HeadScanner::State::kRefused) walk.refusal = scanner.refusal();
    if (state != http::HeadScanner::State::kDone) break;
    auto outcome = http::check_request_head(
        rest.substr(scanner.begin(), scanner.end() - scanner.begin()), options.head);
    rest.remove_prefix(scanner.end());
    if (auto* refusal = std::get_if<http::Refusal>(&outcome)) {
      walk.refusal = std::move(*refusal);
      break;
    }
    const bool keep_alive = std::get<http::RequestHead>(outcome).keep_alive;
    if (!walk_body(std::get<http::RequestHead>(std::move(outcome)), options, budget, rest, walk)) {
      break;
    }
    if (!keep_alive) break;
  }
  walk.bytes_left = rest.size();
  return walk;
}

}  // namespace layard::testing
