#include "gateway/request_body.h"

#include <algorithm>
#include <cstdint>

#include "base/json.h"

namespace layard::gateway {
namespace {

using http::BodyPiece;

// Parts of a body in order; the views are of the body and of `model`.
struct Parts {
  std::shared_ptr<const RequestBody> body;
  std::string model;  // quoted
  std::vector<std::string_view> parts = {};
  std::size_t part = 0;
  std::size_t at = 0;

  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const std::string_view text : parts) sum += text.size();
    return sum;
  }

  BodyPiece next() {
    while (part < parts.size() && at == parts[part].size()) {
      ++part;
      at = 0;
    }
    if (part == parts.size()) return {BodyPiece::State::kEnd, {}};
    const std::string_view rest = parts[part].substr(at, RequestBody::kPieceBytes);
    at += rest.size();
    return {BodyPiece::State::kData, std::string(rest)};
  }
};

// A coroutine of its own: one of a lambda would lose what the lambda holds.
http::Task<BodyPiece> next_piece(std::shared_ptr<Parts> parts) { co_return parts->next(); }

}  // namespace

void RequestBody::put(const std::shared_ptr<const RequestBody>& self, const std::string& model,
                      http::ClientRequest& request) {
  if (self->bytes_.size() <= kCopiedBytesMax) {
    request.body =
        model.empty() ? self->bytes_ : with_model(self->bytes_, self->model_ranges_, model);
    return;
  }
  auto parts = std::make_shared<Parts>(Parts{self, base::quote_json(model)});
  std::size_t begin = 0;
  if (!model.empty()) {
    for (const ModelRange& range : self->model_ranges_) {
      parts->parts.push_back(self->bytes().substr(begin, range.begin - begin));
      parts->parts.emplace_back(parts->model);
      begin = range.end;
    }
  }
  parts->parts.push_back(self->bytes().substr(begin));
  request.source_bytes = parts->size();
  request.source = [parts] { return next_piece(parts); };
}

}  // namespace layard::gateway
