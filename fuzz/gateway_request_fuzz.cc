// Any bytes as the body of a request to the gateway. What is read holds together; with the models
// replaced by the one that counts, the body says the same. The first byte chooses API and scope.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "base/utf8.h"
#include "gateway/chat_request.h"

namespace {

using namespace layard;
using gateway::ChatRequest;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_request(const ChatRequest& request, std::string_view body) {
  std::size_t end = 0;
  for (const auto& range : request.model_ranges) {
    require(end <= range.begin && range.begin + 2 <= range.end && range.end <= body.size());
    const auto value =
        base::parse_json(body.substr(range.begin, range.end - range.begin), base::JsonLimits());
    require(value.ok() && value->is_string());
    end = range.end;
  }
  require(!request.model_ranges.empty() || request.model.empty());
  require(base::is_valid_utf8(request.text) && base::is_valid_utf8(request.first_user));
  require(request.text.size() <= request.text_bytes + 5);
  require(request.text_chars <= request.text_bytes);
  for (std::size_t i = 1; i < request.tools.size(); ++i) {
    require(request.tools[i - 1] < request.tools[i]);
  }
}

void check_same_document(std::string_view before, std::string_view after) {
  const auto a = base::parse_json(before, base::JsonLimits());
  const auto b = base::parse_json(after, base::JsonLimits());
  require(a.ok() == b.ok());
  if (a.ok()) {
    require(write_json(*a, base::JsonStyle::kCompact) == write_json(*b, base::JsonStyle::kCompact));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto api = static_cast<gateway::Api>(data[0] % 6);
  gateway::ReadOptions options;
  options.scope = static_cast<gateway::GateScope>(data[0] / 6 % 3);
  options.max_chars = data[0] / 18;
  const auto request = gateway::read_chat_request(api, body, options);
  if (!request.ok()) {
    require(request.error().code == ErrorCode::kInvalidRequest && !request.error().message.empty());
    return 0;
  }
  check_request(*request, body);
  const std::string renamed = with_model(body, request->model_ranges, request->model);
  check_same_document(body, renamed);
  const auto again = gateway::read_chat_request(api, renamed, options);
  require(again.ok() && again->model == request->model && again->text == request->text);
  require(again->model_ranges.size() == request->model_ranges.size());
  return 0;
}
