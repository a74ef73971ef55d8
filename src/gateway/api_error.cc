#include "gateway/api_error.h"

#include "base/checks.h"
#include "base/json.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

bool is_anthropic(Api api) { return api == Api::kMessages || api == Api::kCountTokens; }

JsonValue shortened(std::string_view text) {
  if (text.size() <= kErrorMessageBytesMax) return JsonValue::string(std::string(text));
  std::size_t end = kErrorMessageBytesMax - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) >> 6U) == 2) --end;
  return JsonValue::string(std::string(text.substr(0, end)) + "...");
}

JsonValue text_or_null(std::optional<std::string_view> text) {
  return text ? JsonValue::string(std::string(*text)) : JsonValue::null();
}

JsonValue text(std::string_view value) { return JsonValue::string(std::string(value)); }

std::string anthropic_json(int status, std::string_view message) {
  JsonValue error = JsonValue::object();
  error.set("type", text(anthropic_error_type(status)));
  error.set("message", shortened(message));
  JsonValue root = JsonValue::object();
  root.set("type", text("error"));
  root.set("error", std::move(error));
  return write_json(root, base::JsonStyle::kCompact);
}

std::string openai_json(std::string_view type, std::string_view message,
                        std::optional<std::string_view> param,
                        std::optional<std::string_view> code) {
  JsonValue error = JsonValue::object();
  error.set("message", shortened(message));
  error.set("type", text(type));
  error.set("param", text_or_null(param));
  error.set("code", text_or_null(code));
  JsonValue root = JsonValue::object();
  root.set("error", std::move(error));
  return write_json(root, base::JsonStyle::kCompact);
}

std::string responses_json(std::string_view type, std::string_view message,
                           std::optional<std::string_view> code) {
  JsonValue root = JsonValue::object();
  root.set("type", text("error"));
  root.set("code", text(code.value_or(type)));
  root.set("message", shortened(message));
  root.set("param", JsonValue::null());
  root.set("sequence_number", JsonValue::integer(0));
  return write_json(root, base::JsonStyle::kCompact);
}

}  // namespace

std::string_view openai_error_type(int status) noexcept {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

std::string_view anthropic_error_type(int status) noexcept {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case 529:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

http::Response api_error_response(Api api, int status, std::string_view type,
                                  std::string_view message, std::optional<std::string_view> param,
                                  std::optional<std::string_view> code) {
  LAYARD_CHECK(status >= 400 && status <= 599);
  if (type.empty()) type = openai_error_type(status);
  return http::make_response(status, "application/json",
                             is_anthropic(api) ? anthropic_json(status, message)
                                               : openai_json(type, message, param, code));
}

std::string api_error_event(Api api, int status, std::string_view type, std::string_view message,
                            std::optional<std::string_view> code) {
  if (type.empty()) type = openai_error_type(status);
  if (is_anthropic(api)) return "event: error\ndata: " + anthropic_json(status, message) + "\n\n";
  if (api == Api::kResponses) {
    return "event: error\ndata: " + responses_json(type, message, code) + "\n\n";
  }
  return "data: " + openai_json(type, message, std::nullopt, code) + "\n\n";
}

}  // namespace layard::gateway
